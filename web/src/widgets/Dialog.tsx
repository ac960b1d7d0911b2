import { lazy, Suspense } from 'react'
import type { DialogLayerProps } from './DialogLayer.tsx'
// Before the first dialog: it follows the focus.
import './return-focus.ts'

export const loadDialogLayer = () => import('./DialogLayer.tsx')
const DialogLayer = lazy(loadDialogLayer)

/** Takes the focus, and gives it back when it closes. On phones it sits at the bottom. */
export function Dialog({ isOpen, ...props }: DialogLayerProps & { readonly isOpen: boolean }) {
  return <Suspense fallback={null}>{isOpen && <DialogLayer {...props} />}</Suspense>
}

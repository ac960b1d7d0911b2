import { CSPProvider } from '@base-ui/react/csp-provider'
import { type ComponentType, type ReactNode, useEffect, useState } from 'react'
import { loadDialogLayer } from '../widgets/Dialog.tsx'
import { loadMenuLayer } from '../widgets/Menu.tsx'
import { afterStart } from './after-start.ts'

/**
 * What widgets need around them. It surrounds the router, so that a message outlives the page that shows it. What
 * lies above pages comes after them, with the library that it is made with: that is a quarter of all code.
 */
export function Layers({ children }: { children: ReactNode }) {
  const [Overlays, setOverlays] = useState<ComponentType>()
  useEffect(
    () =>
      afterStart(async () => {
        const [overlays] = await Promise.all([
          import('../widgets/Overlays.tsx'),
          loadMenuLayer(),
          loadDialogLayer(),
        ])
        setOverlays(() => overlays.Overlays)
      }),
    [],
  )
  return (
    <CSPProvider disableStyleElements>
      {children}
      {Overlays !== undefined && <Overlays />}
    </CSPProvider>
  )
}

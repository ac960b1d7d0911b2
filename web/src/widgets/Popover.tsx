import {
  type ComponentProps,
  cloneElement,
  lazy,
  type ReactElement,
  type ReactNode,
  Suspense,
  useState,
} from 'react'
import { menuTrigger, type Opening } from './menu-parts.ts'

const PopoverLayer = lazy(() => import('./PopoverLayer.tsx'))

type PopoverProps = {
  /** The button that opens it. */
  readonly trigger: ReactElement<ComponentProps<'button'>>
  readonly children: (close: () => void) => ReactNode
}

/** A small form beside the button that opens it. */
export function Popover({ trigger, children }: PopoverProps) {
  const [opening, setOpening] = useState<Opening>()
  const close = () => setOpening((before) => before && { ...before, isOpen: false })
  return (
    <>
      {cloneElement(trigger, menuTrigger(setOpening, 'dialog'))}
      {opening !== undefined && (
        <Suspense fallback={null}>
          <PopoverLayer opening={opening} onClose={close}>
            {children(close)}
          </PopoverLayer>
        </Suspense>
      )}
    </>
  )
}

import { Popover as Base } from '@base-ui/react/popover'
import { type ReactNode, useEffect } from 'react'
import type { Opening } from './menu-parts.ts'

type PopoverLayerProps = {
  readonly opening: Opening
  readonly onClose: () => void
  readonly children: ReactNode
}

/** The popover itself. It is loaded apart, with the library that it is made with. */
export default function PopoverLayer({ opening, onClose, children }: PopoverLayerProps) {
  const { anchor, isOpen } = opening
  useEffect(() => {
    anchor.ariaExpanded = String(isOpen)
    return () => {
      anchor.ariaExpanded = 'false'
    }
  }, [anchor, isOpen])
  return (
    <Base.Root open={isOpen} onOpenChange={(isNowOpen) => isNowOpen || onClose()} modal>
      <Base.Portal>
        <Base.Positioner className="layer" anchor={anchor} sideOffset={4} align="start">
          <Base.Popup className="menu pop" aria-label={anchor.innerText} finalFocus={() => anchor}>
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}

import { Popover as Base } from '@base-ui/react/popover'
import {
  type ComponentProps,
  cloneElement,
  type ReactElement,
  type ReactNode,
  useEffect,
  useState,
} from 'react'
import { menuTrigger, type Opening } from './Menu.tsx'

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
        <PopoverLayer opening={opening} onClose={close}>
          {children(close)}
        </PopoverLayer>
      )}
    </>
  )
}

type PopoverLayerProps = {
  readonly opening: Opening
  readonly onClose: () => void
  readonly children: ReactNode
}

function PopoverLayer({ opening, onClose, children }: PopoverLayerProps) {
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

import { Popover as Base } from '@base-ui/react/popover'
import { type ReactElement, type ReactNode, useState } from 'react'

type PopoverProps = {
  /** The button that opens it. */
  readonly trigger: ReactElement
  readonly label: string
  readonly children: (close: () => void) => ReactNode
}

/** A small form beside the button that opens it. */
export function Popover({ trigger, label, children }: PopoverProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <Base.Root open={isOpen} onOpenChange={setOpen} modal>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner className="layer" sideOffset={4} align="start">
          <Base.Popup className="menu pop" aria-label={label}>
            {children(() => setOpen(false))}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}

import { Tooltip as Base } from '@base-ui/react/tooltip'
import type { ReactElement } from 'react'

type TooltipProps = {
  readonly text: string
  readonly shortcut?: string | undefined
  /** What the text belongs to: one element that takes a ref and props. */
  readonly children: ReactElement
}

/** Shows a text on hover and focus. It repeats the accessible name, or adds to what is visible. */
export function Tooltip({ text, shortcut, children }: TooltipProps) {
  return (
    <Base.Root>
      <Base.Trigger render={children} />
      <Base.Portal>
        <Base.Positioner sideOffset={6} className="layer">
          <Base.Popup className="tip">
            {text}
            {shortcut !== undefined && <kbd aria-hidden>{shortcut}</kbd>}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}

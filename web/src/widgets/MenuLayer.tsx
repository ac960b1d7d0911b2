import { Menu as Base } from '@base-ui/react/menu'
import { type ReactNode, useEffect } from 'react'
import { MenuParts, type Opening } from './menu-parts.ts'

export type MenuLayerProps = {
  readonly opening: Opening
  readonly onClose: () => void
  readonly align?: 'start' | 'center' | 'end'
  readonly side?: 'top' | 'bottom'
  /** What gets the focus where the button is gone by then. */
  readonly successor?: () => HTMLElement | undefined
  readonly children: ReactNode
}

const PARTS = {
  CheckboxItem: Base.CheckboxItem,
  CheckboxItemIndicator: Base.CheckboxItemIndicator,
  Group: Base.Group,
  GroupLabel: Base.GroupLabel,
  Item: Base.Item,
  LinkItem: Base.LinkItem,
  RadioGroup: Base.RadioGroup,
  RadioItem: Base.RadioItem,
  RadioItemIndicator: Base.RadioItemIndicator,
  Separator: Base.Separator,
}

/** The menu itself. It is loaded apart, with the library that it is made with. */
export default function MenuLayer(props: MenuLayerProps) {
  const { opening, onClose, align = 'end', side = 'bottom', successor, children } = props
  const { anchor, isOpen } = opening
  useEffect(() => {
    anchor.ariaExpanded = String(isOpen)
    return () => {
      anchor.ariaExpanded = 'false'
    }
  }, [anchor, isOpen])
  return (
    <Base.Root open={isOpen} onOpenChange={(isNowOpen) => isNowOpen || onClose()}>
      <Base.Portal>
        <Base.Positioner className="layer" anchor={anchor} sideOffset={4} align={align} side={side}>
          <Base.Popup
            className="menu"
            aria-label={anchor.ariaLabel ?? anchor.innerText}
            finalFocus={() => (anchor.isConnected ? anchor : (successor?.() ?? false))}
            onFocus={(event) => {
              if (event.relatedTarget === anchor) focusEntry(event.currentTarget, opening)
            }}
          >
            <MenuParts value={PARTS}>{children}</MenuParts>
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}

/** The menu itself has got the focus. */
function focusEntry(menu: HTMLElement, { entry }: Opening): void {
  const entries = [...menu.querySelectorAll<HTMLElement>('[role^="menuitem"]')]
  if (entry !== undefined) entries.at(entry === 'first' ? 0 : -1)?.focus()
}

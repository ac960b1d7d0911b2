import { Menu as Base } from '@base-ui/react/menu'
import {
  cloneElement,
  type KeyboardEvent,
  type MouseEvent,
  type ReactElement,
  type ReactNode,
  useEffect,
  useState,
} from 'react'
import { Icon, type IconNode } from '../icons/Icon.tsx'
import { CheckIcon } from '../icons/index.ts'

/** A menu that was opened, until its component is gone. */
export type Opening = {
  /** The button that it was opened with. */
  readonly anchor: HTMLElement
  /** False once it was closed: it fades away. */
  readonly isOpen: boolean
  /** The entry that gets the focus, where it was opened with a key. */
  readonly entry?: 'first' | 'last' | undefined
}

type MenuProps = Pick<OpenedMenuProps, 'align' | 'side' | 'children'> & {
  /** The button that opens it. */
  readonly trigger: ReactElement<object>
}

export function Menu({ trigger, children, ...place }: MenuProps) {
  const [opening, setOpening] = useState<Opening>()
  return (
    <>
      {cloneElement(trigger, menuTrigger(setOpening))}
      {opening !== undefined && (
        <OpenedMenu
          opening={opening}
          onClose={() => setOpening({ ...opening, isOpen: false })}
          {...place}
        >
          {children}
        </OpenedMenu>
      )}
    </>
  )
}

type OpenedMenuProps = {
  readonly opening: Opening
  readonly onClose: () => void
  readonly align?: 'start' | 'center' | 'end'
  readonly side?: 'top' | 'bottom'
  /** What gets the focus where the button is gone by then. */
  readonly successor?: () => HTMLElement | undefined
  readonly children: ReactNode
}

/** A menu beside the button that has opened it, for which `menuTrigger` has the attributes. */
export function OpenedMenu(props: OpenedMenuProps) {
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
            {children}
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

const ENTRIES: Readonly<Record<string, 'first' | 'last'>> = { ArrowDown: 'first', ArrowUp: 'last' }

/** The attributes of a button that opens a menu, or a dialog below it, with a press or an arrow key. */
export function menuTrigger(open: (opening: Opening) => void, kind: 'menu' | 'dialog' = 'menu') {
  return {
    'aria-haspopup': kind,
    'aria-expanded': false,
    onClick({ currentTarget, detail }: MouseEvent<HTMLElement>) {
      // The click of a key has no count.
      open({ anchor: currentTarget, isOpen: true, entry: detail === 0 ? 'first' : undefined })
    },
    onKeyDown(event: KeyboardEvent<HTMLElement>) {
      const entry = ENTRIES[event.key]
      if (entry === undefined) return
      event.preventDefault()
      open({ anchor: event.currentTarget, isOpen: true, entry })
    },
  } as const
}

type MenuItemProps = {
  readonly icon?: IconNode
  readonly shortcut?: string
  readonly isDangerous?: boolean
  readonly onSelect?: () => void
  /** A link, for items that lead to a page. */
  readonly render?: ReactElement
  readonly children: ReactNode
}

export function MenuItem(props: MenuItemProps) {
  const { icon, shortcut, isDangerous = false, onSelect, render, children } = props
  const content = (
    <>
      {icon !== undefined && <Icon of={icon} />}
      {children}
      {shortcut !== undefined && <kbd aria-hidden>{shortcut}</kbd>}
    </>
  )
  const className = isDangerous ? 'menu-i danger' : 'menu-i'
  return render === undefined ? (
    <Base.Item className={className} onClick={onSelect}>
      {content}
    </Base.Item>
  ) : (
    <Base.LinkItem className={className} render={render} closeOnClick>
      {content}
    </Base.LinkItem>
  )
}

type MenuChoiceProps<T extends string> = {
  readonly label: string
  readonly value: T
  readonly choices: readonly (readonly [T, string])[]
  readonly onChange: (value: T) => void
}

/** One of several; the menu closes on a choice. */
export function MenuChoice<T extends string>(props: MenuChoiceProps<T>) {
  const { label, value, choices, onChange } = props
  return (
    <Base.RadioGroup value={value} onValueChange={onChange}>
      <Base.GroupLabel className="menu-g">{label}</Base.GroupLabel>
      {choices.map(([one, name]) => (
        <Base.RadioItem key={one} value={one} className="menu-i" closeOnClick>
          {name}
          <Base.RadioItemIndicator className="ml-auto">
            <Icon of={CheckIcon} />
          </Base.RadioItemIndicator>
        </Base.RadioItem>
      ))}
    </Base.RadioGroup>
  )
}

type MenuCheckProps = {
  readonly isChecked: boolean
  readonly onChange: (isChecked: boolean) => void
  readonly children: ReactNode
}

/** On or off; the menu stays open, for others of its kind. */
export function MenuCheck({ isChecked, onChange, children }: MenuCheckProps) {
  return (
    <Base.CheckboxItem className="menu-i" checked={isChecked} onCheckedChange={onChange}>
      {children}
      <Base.CheckboxItemIndicator className="ml-auto">
        <Icon of={CheckIcon} />
      </Base.CheckboxItemIndicator>
    </Base.CheckboxItem>
  )
}

export function MenuGroup({ label, children }: { label: string; children: ReactNode }) {
  return (
    <Base.Group>
      <Base.GroupLabel className="menu-g">{label}</Base.GroupLabel>
      {children}
    </Base.Group>
  )
}

export function MenuSeparator() {
  return <Base.Separator className="menu-s" />
}

import { Menu as Base } from '@base-ui/react/menu'
import { Popover as BasePopover } from '@base-ui/react/popover'
import { type ReactElement, type ReactNode, useEffect, useState } from 'react'
import { Icon, type IconNode } from '../icons/Icon.tsx'
import { CheckIcon } from '../icons/index.ts'

type MenuProps = {
  /** The button that opens it. */
  readonly trigger: ReactElement
  readonly align?: 'start' | 'center' | 'end'
  readonly side?: 'top' | 'bottom'
  /** Whether the button gets the focus when the menu is closed. */
  readonly finalFocus?: () => boolean
  readonly children: ReactNode
}

export function Menu(props: MenuProps) {
  const { trigger, align = 'end', side = 'bottom', finalFocus, children } = props
  return (
    <Base.Root>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner className="layer" sideOffset={4} align={align} side={side}>
          <Base.Popup className="menu" finalFocus={finalFocus}>
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}

type AnchoredMenuProps = {
  /** The button that it was opened with. */
  readonly anchor: HTMLElement
  /** False once it was closed: it fades away. */
  readonly isOpen: boolean
  /** Whether a key has opened it: then its first entry has the focus. */
  readonly isByKey: boolean
  /** What gets the focus where the button is gone by then. */
  readonly successor: () => HTMLElement | undefined
  readonly onClose: () => void
  readonly children: ReactNode
}

/** One menu for many buttons: a list with a menu for each row would be drawn slowly. */
export function AnchoredMenu(props: AnchoredMenuProps) {
  const { anchor, isOpen, isByKey, successor, onClose, children } = props
  useEffect(() => {
    anchor.ariaExpanded = String(isOpen)
    return () => {
      anchor.ariaExpanded = 'false'
    }
  }, [anchor, isOpen])
  return (
    <Base.Root open={isOpen} onOpenChange={(isNowOpen) => isNowOpen || onClose()}>
      <Base.Portal>
        <Base.Positioner className="layer" anchor={anchor} sideOffset={4} align="end">
          <Base.Popup
            className="menu"
            aria-label={anchor.ariaLabel ?? undefined}
            finalFocus={() => (anchor.isConnected ? anchor : (successor() ?? false))}
            onFocus={({ currentTarget, relatedTarget }) => {
              if (!isByKey || relatedTarget !== anchor) return
              currentTarget.querySelector<HTMLElement>('[role^="menuitem"]')?.focus()
            }}
          >
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
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

type PopoverProps = {
  /** The button that opens it. */
  readonly trigger: ReactElement
  readonly label: string
  /** Opens it as soon as its button is shown. */
  readonly isOpenAtFirst?: boolean
  readonly children: (close: () => void) => ReactNode
}

/** A small form beside the button that opens it. */
export function Popover({ trigger, label, isOpenAtFirst = false, children }: PopoverProps) {
  const [isOpen, setOpen] = useState(isOpenAtFirst)
  return (
    <BasePopover.Root open={isOpen} onOpenChange={setOpen} modal>
      <BasePopover.Trigger render={trigger} />
      <BasePopover.Portal>
        <BasePopover.Positioner className="layer" sideOffset={4} align="start">
          <BasePopover.Popup className="menu pop" aria-label={label}>
            {children(() => setOpen(false))}
          </BasePopover.Popup>
        </BasePopover.Positioner>
      </BasePopover.Portal>
    </BasePopover.Root>
  )
}

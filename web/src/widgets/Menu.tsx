import { Menu as Base } from '@base-ui/react/menu'
import type { ReactElement, ReactNode } from 'react'
import { Icon, type IconNode } from '../icons/Icon.tsx'
import { CheckIcon } from '../icons/index.ts'

type MenuProps = {
  /** The button that opens it. */
  readonly trigger: ReactElement
  readonly children: ReactNode
  readonly align?: 'start' | 'center' | 'end'
  readonly side?: 'top' | 'bottom'
}

export function Menu({ trigger, children, ...place }: MenuProps) {
  return (
    <Base.Root>
      <Base.Trigger render={trigger} />
      <Layer {...place}>{children}</Layer>
    </Base.Root>
  )
}

function Layer({ children, align = 'end', side = 'bottom' }: Omit<MenuProps, 'trigger'>) {
  return (
    <Base.Portal>
      <Base.Positioner className="layer" sideOffset={4} align={align} side={side}>
        <Base.Popup className="menu">{children}</Base.Popup>
      </Base.Positioner>
    </Base.Portal>
  )
}

/** A menu that many buttons open, each for a value of its own. */
export const createSharedMenu = Base.createHandle

type SharedMenuTriggerProps<T> = {
  readonly handle: Base.Handle<T>
  /** What the menu is opened for. */
  readonly payload: T
  /** A button. */
  readonly children: ReactElement
}

export function SharedMenuTrigger<T>({ handle, payload, children }: SharedMenuTriggerProps<T>) {
  return <Base.Trigger handle={handle} payload={payload} render={children} />
}

type SharedMenuProps<T> = {
  readonly handle: Base.Handle<T>
  readonly children: (payload: T) => ReactNode
}

export function SharedMenu<T>({ handle, children }: SharedMenuProps<T>) {
  return (
    <Base.Root handle={handle}>
      {({ payload }) => <Layer>{payload !== undefined && children(payload)}</Layer>}
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

/** One of several; the menu stays open. */
export function MenuChoice<T extends string>(props: MenuChoiceProps<T>) {
  const { label, value, choices, onChange } = props
  return (
    <Base.RadioGroup value={value} onValueChange={onChange}>
      <Base.GroupLabel className="menu-g">{label}</Base.GroupLabel>
      {choices.map(([one, name]) => (
        <Base.RadioItem key={one} value={one} className="menu-i">
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

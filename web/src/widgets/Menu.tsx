import { cloneElement, lazy, type ReactElement, type ReactNode, Suspense, useState } from 'react'
import { Icon, type IconNode } from '../icons/Icon.tsx'
import { CheckIcon } from '../icons/index.ts'
import type { MenuLayerProps } from './MenuLayer.tsx'
import { menuTrigger, type Opening, useMenuParts } from './menu-parts.ts'

export const loadMenuLayer = () => import('./MenuLayer.tsx')
const MenuLayer = lazy(loadMenuLayer)

type MenuProps = Pick<MenuLayerProps, 'align' | 'side' | 'children'> & {
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

/** A menu beside the button that has opened it, for which `menuTrigger` has the attributes. */
export function OpenedMenu(props: MenuLayerProps) {
  return (
    <Suspense fallback={null}>
      <MenuLayer {...props} />
    </Suspense>
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
  const { Item, LinkItem } = useMenuParts()
  const className = isDangerous ? 'menu-i danger' : 'menu-i'
  return render === undefined ? (
    <Item className={className} onClick={onSelect}>
      {content}
    </Item>
  ) : (
    <LinkItem className={className} render={render} closeOnClick>
      {content}
    </LinkItem>
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
  const { GroupLabel, RadioGroup, RadioItem, RadioItemIndicator } = useMenuParts()
  return (
    <RadioGroup value={value} onValueChange={onChange}>
      <GroupLabel className="menu-g">{label}</GroupLabel>
      {choices.map(([one, name]) => (
        <RadioItem key={one} value={one} className="menu-i" closeOnClick>
          {name}
          <RadioItemIndicator className="ml-auto">
            <Icon of={CheckIcon} />
          </RadioItemIndicator>
        </RadioItem>
      ))}
    </RadioGroup>
  )
}

type MenuCheckProps = {
  readonly isChecked: boolean
  readonly onChange: (isChecked: boolean) => void
  readonly children: ReactNode
}

/** On or off; the menu stays open, for others of its kind. */
export function MenuCheck({ isChecked, onChange, children }: MenuCheckProps) {
  const { CheckboxItem, CheckboxItemIndicator } = useMenuParts()
  return (
    <CheckboxItem className="menu-i" checked={isChecked} onCheckedChange={onChange}>
      {children}
      <CheckboxItemIndicator className="ml-auto">
        <Icon of={CheckIcon} />
      </CheckboxItemIndicator>
    </CheckboxItem>
  )
}

export function MenuGroup({ label, children }: { label: string; children: ReactNode }) {
  const { Group, GroupLabel } = useMenuParts()
  return (
    <Group>
      <GroupLabel className="menu-g">{label}</GroupLabel>
      {children}
    </Group>
  )
}

export function MenuSeparator() {
  const { Separator } = useMenuParts()
  return <Separator className="menu-s" />
}

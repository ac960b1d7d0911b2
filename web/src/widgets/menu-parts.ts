import type { Menu } from '@base-ui/react/menu'
import { createContext, type KeyboardEvent, type MouseEvent, use } from 'react'

/** A menu that was opened, until its component is gone. */
export type Opening = {
  /** The button that it was opened with. */
  readonly anchor: HTMLElement
  /** False once it was closed: it fades away. */
  readonly isOpen: boolean
  /** The entry that gets the focus, where it was opened with a key. */
  readonly entry?: 'first' | 'last' | undefined
}

/** What entries are made of. The rest of the library stays out of the build. */
type Parts = Pick<
  typeof Menu,
  | 'CheckboxItem'
  | 'CheckboxItemIndicator'
  | 'Group'
  | 'GroupLabel'
  | 'Item'
  | 'LinkItem'
  | 'RadioGroup'
  | 'RadioItem'
  | 'RadioItemIndicator'
  | 'Separator'
>

/** `MenuLayer` provides them when it has been loaded. */
export const MenuParts = createContext<Parts | undefined>(undefined)

/** Only within a menu. */
export function useMenuParts(): Parts {
  const parts = use(MenuParts)
  if (parts === undefined) throw new Error('an entry of a menu is outside of a menu')
  return parts
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

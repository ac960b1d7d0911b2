import type { KeyboardEvent, MouseEvent } from 'react'
import type { Opening } from './menu-parts.ts'

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

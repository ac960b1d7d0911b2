import type { IconNode } from '../icons/Icon.tsx'

/** A line of the command palette. */
export type PaletteEntry = {
  readonly id: string
  readonly group: string
  readonly icon: IconNode
  readonly name: string
  readonly detail?: string
  readonly end?: string
  /** Words by which it is found too. */
  readonly also?: string
  /** Runs it from anywhere in the palette, as `Shortcut` names keys. */
  readonly keys?: string
  /** What the keys do, in a word. */
  readonly keysName?: string
  /** Whether it acts on the link or domain that is highlighted. */
  readonly isAct?: boolean
  /** The link or domain that it shows; undefined for acts and commands. */
  readonly subject?: string
  readonly run: () => void
}

import type { IconNode } from '../icons/Icon.tsx'

/** A line of the command palette. */
export type PaletteEntry = {
  readonly id: string
  readonly group: string
  readonly icon: IconNode
  readonly name: string
  readonly detail?: string
  readonly end?: string
  /** The link or domain that it shows; undefined for acts and commands. */
  readonly subject?: string
  readonly run: () => void
}

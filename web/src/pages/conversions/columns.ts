import { valueTicks } from '../analytics/scale.ts'

/** A column above zero, and one below it. */
export type Column = { readonly up: number; readonly down: number }

export type ColumnScale = {
  /** Round numbers, from the lowest to the highest. */
  readonly ticks: readonly number[]
  /** How far below the upper edge a number is, as a share of the height. */
  readonly placeOf: (value: number) => number
}

/** A scale that holds all columns, with steps of the same height above zero and below it. */
export function columnScale(columns: readonly Column[]): ColumnScale {
  const high = Math.max(0, ...columns.map(({ up }) => up))
  const low = Math.min(0, ...columns.map(({ down }) => down))
  const above = valueTicks(Math.max(high, -low / 2))
  const step = above[1] ?? 1
  const below = Math.ceil(-low / step)
  const ticks = [...Array.from({ length: below }, (_, nth) => (nth - below) * step), ...above]
  const [bottom, top] = [ticks[0] ?? 0, ticks.at(-1) ?? 1]
  return { ticks, placeOf: (value) => (top - value) / (top - bottom) }
}

/** The column at a share of the width. */
export function columnAt(share: number, count: number): number {
  return Math.min(count - 1, Math.max(0, Math.floor(share * count)))
}

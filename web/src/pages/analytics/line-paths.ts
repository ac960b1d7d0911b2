import { area, curveMonotoneX, line } from 'd3-shape'
import { shareOf } from './scale.ts'

/** The box that lines are drawn in; it is stretched to the size of the plot. */
export const PLOT_WIDTH = 1_000
export const PLOT_HEIGHT = 260

/** The numbers of a line, as many as have begun. */
export type LineValues = {
  readonly values: readonly number[]
  /** Whether the last number can still grow. */
  readonly isUnfinished: boolean
}

export type LinePaths = {
  readonly line: string
  readonly fill: string
  /** From the last number that is final to the one that is not. */
  readonly unfinished: string
}

/**
 * Draws a smooth line that passes every point and exceeds none.
 *
 * @param count the points of the whole width
 * @param top the number at the upper edge
 */
export function linePaths(
  { values, isUnfinished }: LineValues,
  count: number,
  top: number,
): LinePaths {
  const points = values.map((value, index): [number, number] => [
    round(shareOf(index, count) * PLOT_WIDTH),
    round(PLOT_HEIGHT * (1 - value / top)),
  ])
  const final = isUnfinished ? points.slice(0, -1) : points
  const fill = area<[number, number]>()
    .curve(curveMonotoneX)
    .x(([x]) => x)
    .y0(PLOT_HEIGHT)
    .y1(([, y]) => y)
  return {
    line: line().curve(curveMonotoneX)(final) ?? '',
    fill: fill(final) ?? '',
    unfinished: isUnfinished ? (line()(points.slice(-2)) ?? '') : '',
  }
}

/**
 * Moves labels apart so that none covers another.
 *
 * @param places where each label belongs
 * @param distance between two labels at least, in the unit of the places
 * @returns where each can stand, in the order given
 */
export function spreadLabels(places: readonly number[], distance: number): readonly number[] {
  const order = places.map((place, nth) => ({ place, nth })).sort((a, b) => a.place - b.place)
  const spread = places.map(() => 0)
  let next = Number.NEGATIVE_INFINITY
  for (const { place, nth } of order) {
    const free = Math.max(place, next)
    spread[nth] = free
    next = free + distance
  }
  const last = order.at(-1)
  const overflow = last === undefined ? 0 : Math.max(0, (spread[last.nth] ?? 0) - 1)
  return spread.map((place) => place - overflow)
}

function round(number: number): number {
  return Math.round(number * 10) / 10
}

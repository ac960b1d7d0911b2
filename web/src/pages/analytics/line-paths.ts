import { area, curveMonotoneX, line } from 'd3-shape'
import { shareOf } from './scale.ts'

/** The box that lines are drawn in; it is stretched to the size of the plot. */
export const PLOT_WIDTH = 1_000
export const PLOT_HEIGHT = 260

/** The numbers of a line, as many as have begun. */
export type LineValues = {
  /** Null where it is not known: the line has a gap. */
  readonly values: readonly (number | null)[]
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
  const points = values.map(
    (value, index): Point => [
      round(shareOf(index, count) * PLOT_WIDTH),
      value === null ? null : round(PLOT_HEIGHT * (1 - value / top)),
    ],
  )
  const final = isUnfinished ? points.slice(0, -1) : points
  const straight = line<Point>().defined(isKnown).x(xOf).y(yOf)
  const smooth = line<Point>().defined(isKnown).x(xOf).y(yOf).curve(curveMonotoneX)
  const fill = area<Point>().defined(isKnown).curve(curveMonotoneX).x(xOf).y0(PLOT_HEIGHT).y1(yOf)
  return {
    line: smooth(final) ?? '',
    fill: fill(final) ?? '',
    unfinished: isUnfinished ? (straight(points.slice(-2)) ?? '') : '',
  }
}

type Point = readonly [x: number, y: number | null]

const isKnown = ([, y]: Point) => y !== null
const xOf = ([x]: Point) => x
const yOf = ([, y]: Point) => y ?? 0

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

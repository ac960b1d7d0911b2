import { area, curveMonotoneX, line } from 'd3-shape'

const RULES_MAX = 4
const RULES_MIN = 2
const LABELS_MAX = 7
const STEPS = [1, 2, 5, 10]

/** Round numbers from 0 to at least `max`, with two to four steps between them. */
export function valueTicks(max: number): readonly number[] {
  const rough = Math.max(max, 1) / RULES_MAX
  const power = 10 ** Math.floor(Math.log10(rough))
  const factor = STEPS.find((one) => one * power >= rough) ?? 10
  const step = Math.max(1, factor * power)
  const count = Math.max(RULES_MIN, Math.ceil(max / step))
  return Array.from({ length: count + 1 }, (_, nth) => nth * step)
}

type Label = {
  readonly index: number
  /** Whether it is left out where there is little room. */
  readonly isSpare: boolean
}

/** Which of so many points have a label: the first, the last, and some between them. */
export function pointLabels(count: number): readonly Label[] {
  const last = count - 1
  if (last < 0) return []
  const step = Math.max(1, Math.ceil(count / (LABELS_MAX - 1)))
  const indices: number[] = []
  for (let index = 0; index <= last - step * 0.6; index += step) indices.push(index)
  if (last > 0 || indices.length === 0) indices.push(last)
  const final = indices.length - 1
  return indices.map((index, nth) => ({
    index,
    isSpare: final > 3 && nth > 0 && ((final - nth) % 2 === 1 || nth === 1),
  }))
}

/** The point that is nearest to a share of the width. */
export function nearestPoint(share: number, count: number): number {
  return Math.min(count - 1, Math.max(0, Math.round(share * (count - 1))))
}

/** Where a point is, as a share of the width. */
export function shareOf(index: number, count: number): number {
  return count < 2 ? 0 : index / (count - 1)
}

/** One of so many steps by logarithm, from 1 to the largest; 0 for nothing. */
export function logStep(value: number, max: number, steps: number): number {
  if (value <= 0) return 0
  if (max <= 1) return steps
  return Math.min(steps, 1 + Math.floor((Math.log(value) / Math.log(max)) * steps))
}

/** The change from one number to another as a ratio; undefined where there was nothing. */
export function changeOf(value: number, before: number): number | undefined {
  return before === 0 ? undefined : (value - before) / before
}

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

type LinePaths = {
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

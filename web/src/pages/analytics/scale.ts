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

export type Label = {
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

import { type Bounds, wilson } from '@terse/contract/rates'

/** The probability that an interval misses the true value. */
const ALPHA = 0.05
const ITERATIONS_MAX = 500
const PRECISION = 1e-12

/**
 * Returns how many standard errors an interval has on each side, so that all of several comparisons together are wrong in
 * 5 % of the cases at most (Bonferroni).
 *
 * @param comparisons at least 1
 */
export function criticalZ(comparisons: number): number {
  let [low, high] = [0, 20]
  while (high - low > PRECISION) {
    const z = (low + high) / 2
    // Twice the tail of the normal distribution is the tail of chi-square with one degree of freedom.
    if (chiSquareTail(z * z, 1) > ALPHA / comparisons) low = z
    else high = z
  }
  return high
}

/** A variant's visitors, and its weight. */
export type WeighedCount = { readonly visitors: number; readonly weight: number }

/**
 * The interval of how many more visitors a variant has than a base, for their weights: 0.05 is 5 % more. Of the visitors of
 * both, the share of one is binomial; its interval gives that of the ratio.
 *
 * @param of with a weight above 0, as the base
 */
export function moreThan(of: WeighedCount, base: WeighedCount, z: number): Bounds {
  const { low, high } = wilson(of.visitors, of.visitors + base.visitors, z)
  const ratio = (share: number) => ((share / (1 - share)) * base.weight) / of.weight - 1
  return { low: ratio(low), high: ratio(high) }
}

/**
 * Returns how probable it is that visitors who are divided by the weights differ from them at least as much; undefined with
 * fewer than two weights. Below 0.001 something is wrong (Fabijan, KDD 2019).
 */
export function sampleRatio(counts: readonly WeighedCount[]): number | undefined {
  const divided = counts.filter(({ weight }) => weight > 0)
  if (divided.length < 2) return undefined
  const visitors = divided.reduce((sum, count) => sum + count.visitors, 0)
  const weights = divided.reduce((sum, { weight }) => sum + weight, 0)
  if (visitors === 0) return 1
  const distance = divided.reduce((sum, count) => {
    const expected = (visitors * count.weight) / weights
    return sum + (count.visitors - expected) ** 2 / expected
  }, 0)
  return chiSquareTail(distance, divided.length - 1)
}

/** Returns the probability of a larger value of chi-square: the regularized upper incomplete gamma function Q(k/2, x/2). */
export function chiSquareTail(value: number, degrees: number): number {
  const [a, x] = [degrees / 2, value / 2]
  if (x <= 0) return 1
  const scale = Math.exp(a * Math.log(x) - x - logGammaOfHalf(degrees))
  return x < a + 1 ? 1 - scale * lowerSeries(a, x) : scale * upperFraction(a, x)
}

function lowerSeries(a: number, x: number): number {
  let term = 1 / a
  let sum = term
  for (let n = 1; n < ITERATIONS_MAX && term > sum * PRECISION; n += 1) {
    term *= x / (a + n)
    sum += term
  }
  return sum
}

/** A continued fraction, from its end: it converges fast above a + 1. */
function upperFraction(a: number, x: number): number {
  let tail = 0
  for (let n = ITERATIONS_MAX; n >= 1; n -= 1) tail = (n * (n - a)) / (x + 2 * n + 1 - a - tail)
  return 1 / (x + 1 - a - tail)
}

/** ln Γ(n / 2), from Γ(1/2) = √π and Γ(1) = 1. */
function logGammaOfHalf(n: number): number {
  let at = n % 2 === 0 ? 1 : 0.5
  let log = n % 2 === 0 ? 0 : Math.log(Math.PI) / 2
  for (; at < n / 2; at += 1) log += Math.log(at)
  return log
}

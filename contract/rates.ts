// Without zod: the dashboard has it as code.

/** An interval of a share or of a difference. */
export type Bounds = { readonly low: number; readonly high: number }

/** A share from 0 to 1, and an interval that contains the true one in 95 % of cases. */
export type Rate = Bounds & { readonly value: number }

/** Below so many visitors, and below so many conversions, nothing is said of a rate. */
export const VISITORS_MIN = 100
const CONVERSIONS_MIN = 5
/** Standard errors on each side of an interval of 95 %. */
const Z = 1.959963984540054

/** Returns how many visitors converted; null with too few to say. */
export function conversionRate(conversions: number, visitors: number): Rate | null {
  if (conversions < CONVERSIONS_MIN || visitors < VISITORS_MIN) return null
  // A visitor who comes several times a day may convert several times.
  const part = Math.min(conversions, visitors)
  return { value: part / visitors, ...wilson(part, visitors, Z) }
}

/**
 * The interval of a share by Wilson (JASA 22, 1927, 209).
 *
 * @param total at least 1
 */
export function wilson(part: number, total: number, z: number): Bounds {
  const p = part / total
  const middle = p + z ** 2 / (2 * total)
  const width = z * Math.sqrt((p * (1 - p)) / total + z ** 2 / (4 * total ** 2))
  const scale = 1 + z ** 2 / total
  return { low: Math.max(0, (middle - width) / scale), high: Math.min(1, (middle + width) / scale) }
}

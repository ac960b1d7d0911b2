import { SieveCache } from './sieve-cache.ts'

/**
 * A pure function of texts that come again and again, such as header values, with its results at hand.
 *
 * @param countMax of texts that are remembered
 * @param lengthMax of a text, in UTF-16 units; longer ones are not remembered
 */
export function memoized<V extends {}>(
  compute: (text: string) => V,
  { countMax, lengthMax }: { countMax: number; lengthMax: number },
): (text: string) => V {
  const known = new SieveCache<V>(countMax)
  return (text) => {
    if (text.length > lengthMax) return compute(text)
    let value = known.get(text)
    if (value === undefined) {
      value = compute(text)
      known.set(text, value, 1)
    }
    return value
  }
}

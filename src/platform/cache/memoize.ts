import { SieveCache } from './sieve-cache.ts'

/**
 * Caches the results of a pure function of texts that repeat, such as header values.
 *
 * @param countMax how many texts are cached
 * @param lengthMax the longest text that is cached, in UTF-16 code units
 */
export function memoize<V extends {}>(
  compute: (text: string) => V,
  { countMax, lengthMax }: { countMax: number; lengthMax: number },
): (text: string) => V {
  const cache = new SieveCache<V>(countMax)
  return (text) => {
    if (text.length > lengthMax) return compute(text)
    let value = cache.get(text)
    if (value === undefined) {
      value = compute(text)
      cache.set(text, value, 1)
    }
    return value
  }
}

const HEADER_LENGTH_MAX = 512
/** A language range with its weight (RFC 9110, section 12.5.4). */
const RANGE =
  /^\s*([a-z]{2,3})(?:-[a-z0-9]{1,8})*\s*(?:;\s*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*)?$/i

/**
 * Returns the offered language that an `Accept-Language` header prefers, whatever its region; the first
 * that is offered where none matches.
 */
export function preferredLanguage<L extends string>(
  header: string | undefined,
  offered: readonly [L, ...L[]],
): L {
  const ranges = (header ?? '').slice(0, HEADER_LENGTH_MAX).split(',')
  let best = { language: offered[0], weight: 0 }
  for (const range of ranges) {
    const [, name, weight = '1'] = RANGE.exec(range) ?? []
    const language = offered.find((each) => each === name?.toLowerCase())
    if (language !== undefined && Number(weight) > best.weight) {
      best = { language, weight: Number(weight) }
    }
  }
  return best.language
}

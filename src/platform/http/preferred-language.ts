/** More than any browser sends. What a header has beyond is not read. */
const HEADER_LENGTH_MAX = 512
const RANGES_MAX = 32
/** One language range with its weight (RFC 9110, sections 12.4.2 and 12.5.4). */
const RANGE =
  /^[ \t]*(\*|[a-z]{2,3})(?:-[a-z0-9]{1,8})*[ \t]*(?:;[ \t]*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)[ \t]*)?$/i

/**
 * Returns what is offered in the language that an `Accept-Language` header prefers: among equal weights the
 * first, whatever its region or script. Malformed ranges and unknown languages are skipped.
 *
 * @param offered by primary language subtag, in lower case
 * @param byDefault where no language matches, and for `*`
 */
export function preferredLanguage<T>(
  header: string | undefined,
  offered: ReadonlyMap<string, T>,
  byDefault: T,
): T {
  let best = byDefault
  let bestWeight = 0
  for (const range of rangesOf(header ?? '')) {
    const match = RANGE.exec(range)
    if (match === null) continue
    const weight = Number(match[2] ?? 1)
    if (weight <= bestWeight) continue
    const found = match[1] === '*' ? byDefault : offered.get((match[1] ?? '').toLowerCase())
    if (found === undefined) continue
    best = found
    bestWeight = weight
  }
  return best
}

function rangesOf(header: string): string[] {
  const ranges = header.slice(0, HEADER_LENGTH_MAX).split(',', RANGES_MAX)
  // The last one may have been cut within a word.
  return header.length > HEADER_LENGTH_MAX ? ranges.slice(0, -1) : ranges
}

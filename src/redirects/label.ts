/** What a query has besides the label. */
export type LabelledQuery = {
  /** '' for none. */
  readonly label: string
  /** Without the parameter of the label; every other byte is unchanged. */
  readonly query: string
}

/** UTF-16 code units; at most 240 bytes of UTF-8, as values of clicks may have. */
const LENGTH_MAX = 80
const CONTROL_CHARACTER = /\p{Cc}/u
/** Half of a character, which a cut may leave at the end. */
const CUT_CHARACTER = /[\ud800-\udbff]$/

/**
 * Takes the label out of a visitor's query: the first value of the parameter. Cut to 80 characters; one that is not UTF-8
 * or has control characters is none. The parameter is taken out in each case, as often as it comes.
 *
 * @param query without the question mark
 * @param parameter unreserved characters of URLs, which nothing encodes; null to take none
 */
export function takeLabel(query: string, parameter: string | null): LabelledQuery {
  if (query === '' || parameter === null || !query.includes(parameter)) return { label: '', query }
  const start = `${parameter}=`
  const isLabel = (text: string) => text === parameter || text.startsWith(start)
  const texts = query.split('&')
  const first = texts.find(isLabel)
  if (first === undefined) return { label: '', query }
  const rest = texts.filter((text) => !isLabel(text))
  return { label: readLabel(first.slice(start.length)), query: rest.join('&') }
}

function readLabel(encoded: string): string {
  let label: string
  try {
    label = decodeURIComponent(encoded.replaceAll('+', ' ')).trim()
  } catch {
    return ''
  }
  if (CONTROL_CHARACTER.test(label)) return ''
  return label.slice(0, LENGTH_MAX).replace(CUT_CHARACTER, '').trimEnd()
}

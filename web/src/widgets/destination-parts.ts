/** A host of at most so many characters is never cut. */
const WHOLE_HOST_MAX = 24
/** Second-level labels below a country are at most so long: `co.uk`, `com.au`. */
const SECOND_LEVEL_MAX = 3

/** A destination in the order in which it is shown; each part may be empty. */
export type DestinationParts = {
  /** What stands before the registrable domain of a long host. */
  readonly front: string
  readonly domain: string
  /** The path between the host and its last segment. */
  readonly middle: string
  /** What mostly tells destinations of one host apart: the last segment, or the query where there is no path. */
  readonly last: string
  readonly query: string
}

/** A destination without scheme, `www.` and a slash at its end; its placeholders as they were typed. */
export function shortDestination(url: string): string {
  return url
    .replace(/^https?:\/\/(?:www\.)?/, '')
    .replace(/\/$/, '')
    .replace(/%7B([\w.]+)%7D/gi, '{$1}')
}

export function destinationParts(url: string): DestinationParts {
  const text = shortDestination(url)
  if (!/^https?:/.test(url)) return { front: '', domain: '', middle: '', last: text, query: '' }
  const [, host = '', path = '', query = ''] = /^([^/?#]*)([^?#]*)(.*)$/.exec(text) ?? []
  const [front, domain] = splitHost(host)
  const trimmed = path.replace(/\/$/, '')
  if (trimmed === '') return { front, domain, middle: '', last: query, query: '' }
  const at = trimmed.lastIndexOf('/')
  return { front, domain, middle: trimmed.slice(0, at), last: trimmed.slice(at), query }
}

/** The registrable domain begins at a guess: the list of public suffixes is larger than the dashboard. */
function splitHost(host: string): readonly [front: string, domain: string] {
  const labels = host.split('.')
  if (host.length <= WHOLE_HOST_MAX || /^[[\d.:\]]+$/.test(host)) return ['', host]
  const isBelowCountry =
    (labels.at(-1)?.length ?? 0) === 2 && (labels.at(-2)?.length ?? 0) <= SECOND_LEVEL_MAX
  const domain = labels.slice(isBelowCountry ? -3 : -2).join('.')
  return [host.slice(0, -domain.length), domain]
}

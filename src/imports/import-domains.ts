import { parseHost } from '../hosts/index.ts'
import { ImportFault, type ImportOptions } from './import.ts'

/** Hosts that a service shares among its customers: no workspace can prove that it owns one. */
const SHARED_HOSTS: ReadonlyMap<string, string> = new Map([
  ['bit.ly', 'Bitly'],
  ['bitly.com', 'Bitly'],
  ['j.mp', 'Bitly'],
  ['dub.sh', 'Dub'],
  ['dub.link', 'Dub'],
  ['rebrand.ly', 'Rebrandly'],
  ['short.gy', 'Short.io'],
  ['shorturl.at', 'Short.io'],
  ['tinyurl.com', 'TinyURL'],
])

/**
 * Decides on which host of Terse a link of a source goes.
 *
 * @param options.domains maps the source's domains, '' being its own; unmapped names stay as they are
 * @param fallback the host for links without a domain where '' is not mapped; undefined when it must be
 */
export function importDomains(
  { domains }: Pick<ImportOptions, 'domains'>,
  fallback: string | undefined,
): (domain: string | null) => string {
  const mapped = new Map(Object.entries(domains).map(([from, to]) => [nameOf(from), to]))
  return (domain) => {
    const name = nameOf(domain ?? '')
    const to = mapped.get(name)
    if (to !== undefined) return to
    if (name === '') {
      if (fallback !== undefined) return fallback
      throw new ImportFault(
        'The source does not name the domain of its links, and the workspace has several. Say which to use: --domain =HOST, or {"domains": {"": "HOST"}}.',
      )
    }
    const service = SHARED_HOSTS.get(name)
    if (service !== undefined) {
      throw new ImportFault(
        `${name} belongs to ${service}. Say which of your domains replaces it: --domain ${name}=HOST, or {"domains": {"${name}": "HOST"}}.`,
      )
    }
    return name
  }
}

/** The stored form of a host where it has one, so that every spelling of it is mapped. */
function nameOf(domain: string): string {
  const text = domain.trim().toLowerCase()
  const parsed = parseHost(text)
  return 'value' in parsed ? parsed.value : text
}

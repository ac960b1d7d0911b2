export type Server = { readonly host: string; readonly port: number }

export type DatabaseUrl = {
  /** The URL with only the first of its servers, as pg accepts it. */
  readonly url: string
  /** In the order of the URL; empty when it names one server, or leaves it to the environment. */
  readonly servers: readonly Server[]
}

const URL_PARTS = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/s
const HOST_AND_PORT = /^(?:\[([0-9a-f:.]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/i
const PORT = 5432
const PORT_MAX = 65_535
const NO_URL = { fault: 'must be a postgres:// address' }
/** The values of libpq that mean a server which accepts writes. Any other server is of no use to Terse. */
const TARGETS = ['read-write', 'primary']

/**
 * Parses a URL of PostgreSQL, which may name several servers as those of libpq do, such as
 * `postgres://user@h1:5432,h2:5433/db` (https://www.postgresql.org/docs/current/libpq-connect.html).
 */
export function parseDatabaseUrl(
  text: string,
): { readonly value: DatabaseUrl } | { readonly fault: string } {
  const [, head = '', authority = '', tail = ''] = URL_PARTS.exec(text) ?? []
  const [first = '', ...others] = authority.split(',')
  const url = `${head}${first}${tail}`
  if (head === '' || !URL.canParse(url)) return NO_URL
  const target = new URL(url).searchParams.get('target_session_attrs')
  if (target !== null && !TARGETS.includes(target)) {
    return { fault: `must not have a target_session_attrs other than ${TARGETS.join(' or ')}` }
  }
  if (others.length === 0) return { value: { url, servers: [] } }
  const servers = [first, ...others].flatMap(parseServer)
  return servers.length === 1 + others.length ? { value: { url, servers } } : NO_URL
}

function parseServer(text: string): Server[] {
  const [, address, name, digits] = HOST_AND_PORT.exec(text) ?? []
  const host = address ?? name
  const port = Number(digits ?? PORT)
  return host === undefined || port === 0 || port > PORT_MAX ? [] : [{ host, port }]
}

/** A database of a ClickHouse server. */
export type ClickHouseAddress = {
  /** Such as `http://host:8123`. */
  readonly origin: string
  readonly username: string
  readonly database: string
}

/** How to reach the database of clicks. */
export type ClickHouseAccess = {
  readonly address: ClickHouseAddress
  readonly password: string | undefined
}

const PROTOCOLS: ReadonlyMap<string, { readonly http: string; readonly port: string }> = new Map([
  ['clickhouse:', { http: 'http', port: '8123' }],
  ['clickhouses:', { http: 'https', port: '8443' }],
])
const DATABASE = /^\/([A-Za-z_]\w*)$/
const NO_URL = {
  fault: 'must be like clickhouse://user@host:8123/database, or clickhouses:// for TLS',
}

/** Parses the address of a ClickHouse server's HTTP interface. */
export function parseClicksUrl(
  text: string,
): { readonly value: ClickHouseAddress } | { readonly fault: string } {
  if (!URL.canParse(text)) return NO_URL
  const { protocol, username, password, hostname, port, pathname, search, hash } = new URL(text)
  const known = PROTOCOLS.get(protocol)
  const database = DATABASE.exec(pathname)?.[1]
  if (password !== '') return { fault: 'must not have a password: set TERSE_CLICKS_PASSWORD' }
  if (known === undefined || database === undefined || hostname === '' || `${search}${hash}`) {
    return NO_URL
  }
  return {
    value: {
      origin: `${known.http}://${hostname}:${port || known.port}`,
      username: decodeURIComponent(username) || 'default',
      database,
    },
  }
}

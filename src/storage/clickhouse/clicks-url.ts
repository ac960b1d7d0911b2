/** A database of ClickHouse. */
export type ClickHouseAddress = {
  /** Such as `http://host:8123`: one server, or several of one cluster. */
  readonly origins: readonly string[]
  readonly username: string
  readonly database: string
  /** The cluster whose servers have the tables; undefined for one server. */
  readonly cluster: string | undefined
  /** What single clicks are partitioned by when their table is created. */
  readonly partition: (typeof PARTITIONS)[number]
}

/** How to reach the database of clicks. */
export type ClickHouseAccess = {
  readonly address: ClickHouseAddress
  readonly password: string | undefined
}

const PROTOCOLS: ReadonlyMap<string, { readonly http: string; readonly port: string }> = new Map([
  ['clickhouse', { http: 'http', port: '8123' }],
  ['https', { http: 'https', port: '8443' }],
])
const PARTITIONS = ['month', 'day'] as const
const URL_PARTS = /^(\w+):\/\/(?:([^/?#@]*)@)?([^/?#@]+)\/([A-Za-z_]\w*)(?:\?([^#]*))?$/
const HOST_AND_PORT = /^(\[[0-9a-f:.]+\]|[\w.-]+)(?::(\d{1,5}))?$/i
const CLUSTER = /^[\w-]+$/
const NO_URL = {
  fault: 'must be like clickhouse://user@host:8123/database, or https:// for TLS',
}

/**
 * Parses the address of ClickHouse's HTTP interface. It may name several servers of a cluster, such as
 * `clickhouse://user@h1:8123,h2:8123/database?cluster=name`.
 */
export function parseClicksUrl(
  text: string,
): { readonly value: ClickHouseAddress } | { readonly fault: string } {
  const [, protocol = '', user = '', hosts = '', database = '', query = ''] =
    URL_PARTS.exec(text) ?? []
  const known = PROTOCOLS.get(protocol)
  if (known === undefined) return NO_URL
  if (user.includes(':')) return { fault: 'must not have a password: set TERSE_CLICKS_PASSWORD' }
  const origins = hosts.split(',').map((host) => originOf(host, known))
  const username = decoded(user)
  if (!origins.every((origin) => origin !== undefined) || username === undefined) return NO_URL
  const { cluster, partition = 'month', ...others } = Object.fromEntries(new URLSearchParams(query))
  if (Object.keys(others).length > 0) return { fault: 'may have cluster and partition, no more' }
  if (cluster !== undefined && !CLUSTER.test(cluster)) {
    return { fault: 'must name a cluster by letters, digits, - and _' }
  }
  if (cluster === undefined && origins.length > 1) {
    return { fault: 'must name the cluster of its servers, such as ?cluster=name' }
  }
  const unit = PARTITIONS.find((one) => one === partition)
  if (unit === undefined) return { fault: 'may have partition=month or partition=day' }
  return {
    value: { origins, username: username || 'default', database, cluster, partition: unit },
  }
}

function originOf(
  text: string,
  { http, port }: { readonly http: string; readonly port: string },
): string | undefined {
  const [, host, given = port] = HOST_AND_PORT.exec(text) ?? []
  const origin = `${http}://${host}:${given}`
  return host !== undefined && URL.canParse(origin) ? origin : undefined
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

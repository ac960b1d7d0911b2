import pg from 'pg'
import { type ImportSource, ImportSourceFault } from '../import-source.ts'
import type { DatabaseSettings } from '../source-kinds.ts'
import { type KuttLinkRow, type KuttReader, type KuttVisitRow, kuttSource } from './kutt.ts'

const CONNECT_TIMEOUT_MS = 10_000
const STATEMENT_TIMEOUT_MS = 60_000

/**
 * Opens Kutt's PostgreSQL database. It is read in one transaction, so that visits which Kutt counts meanwhile
 * change nothing.
 */
export function openKuttPostgres({ url }: DatabaseSettings): ImportSource {
  return kuttSource('kutt-postgres', () => connect(url))
}

/** Dates as Kutt's SQLite database has them. The session's zone is UTC. */
const asText = (column: string) => `to_char(${column}::timestamptz, 'YYYY-MM-DD HH24:MI:SS.US')`

const LINKS = `
  select links.id::int, links.address, domains.address as domain, links.description, links.banned,
    coalesce(links.password, '') <> '' as is_protected, ${asText('links.expire_in')} as expire_in, links.target, links.visit_count::int,
    ${asText('links.created_at')} as created_at,
    (select ${asText('max(coalesce(visits.updated_at, visits.created_at))')}
      from visits where visits.link_id = links.id) as last_visit
  from links left join domains on domains.id = links.domain_id
  where links.id > $1 order by links.id limit $2`
const VISITS = `
  select visits.id::int, link_id::int, links.address, total::int,
    ${asText('visits.created_at')} as created_at, ${asText('visits.updated_at')} as updated_at
  from visits left join links on links.id = visits.link_id
  where visits.id > $1 order by visits.id limit $2`

async function connect(url: string): Promise<KuttReader> {
  const client = createClient(url)
  // A connection that is lost between two queries fails the next one.
  client.on('error', () => undefined)
  const run = <Row extends pg.QueryResultRow>(query: string, values: readonly unknown[] = []) =>
    guard(async () => (await client.query<Row>(query, [...values])).rows)
  try {
    await guard(() => client.connect())
    await run('begin transaction isolation level repeatable read, read only')
    await run("set local time zone 'UTC'")
  } catch (error) {
    await client.end()
    throw error
  }
  const readPage = <Row extends pg.QueryResultRow>(query: string, afterId: number, limit: number) =>
    run<Row>(query, [Math.max(afterId, -1), limit])
  return {
    async countLinks() {
      const [row] = await run<{ count: number }>('select count(*)::int as count from links')
      return row?.count ?? 0
    },
    readLinks: ({ afterId, limit }) => readPage<KuttLinkRow>(LINKS, afterId, limit),
    readVisits: ({ afterId, limit }) => readPage<KuttVisitRow>(VISITS, afterId, limit),
    close: () => client.end(),
  }
}

function createClient(url: string): pg.Client {
  if (!/^postgres(?:ql)?:\/\//.test(url) || !URL.canParse(url))
    throw new ImportSourceFault(
      'The address of the database must have the form postgres://user:password@host:5432/kutt.',
      { isTransient: false },
    )
  return new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    application_name: 'terse import',
  })
}

/** The classes of PostgreSQL's errors that a configuration or another database explains. */
const FINAL = /^(?:28|3D|42|0A|22)/
const NO_TABLE_OR_COLUMN = /^42(?:P01|703)$/

async function guard<T>(query: () => Promise<T>): Promise<T> {
  try {
    return await query()
  } catch (error) {
    const { code = '', message } = error as Error & { code?: string }
    const reason = NO_TABLE_OR_COLUMN.test(code)
      ? `This is no database of Kutt: ${message}.`
      : `The database cannot be read: ${message || code}.`
    throw new ImportSourceFault(reason, { isTransient: !FINAL.test(code), cause: error })
  }
}

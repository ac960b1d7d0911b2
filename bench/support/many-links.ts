import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { LINKS_PER_BUCKET } from '../../src/storage/schema.ts'
import { countedFile, sqliteFile } from '../../src/storage/sqlite/data-files.ts'
import type { Place } from '../../test/support/engines.ts'

const OFFSET_QUERIES = 5

/** A database, as the service opens it. */
export type DatabasePlace = Pick<Place, 'dataDir' | 'databaseUrl'>

/** One connection to a place's database, without the service. */
type Connection = {
  run(sql: string): Promise<void>
  close(): Promise<void>
}

/** The SQL that differs between the engines. */
type Dialect = {
  /** Rows of one column `n`, from 1 to the count. */
  series(count: number): string
  /** A UUID that contains this number. */
  uuid(number: string): string
  /**
   * Statements that prepare a connection for millions of rows at once; a crash would lose them all.
   */
  readonly bulk: readonly string[]
}

const SQLITE: Dialect = {
  bulk: ['pragma synchronous = off', 'pragma cache_size = -1000000'],
  series: (count) =>
    `(with recursive s (n) as (select 1 union all select n + 1 from s where n < ${count}) select n from s)`,
  uuid: (number) => `printf('00000000-0000-7000-8000-%012x', ${number})`,
}

const POSTGRES: Dialect = {
  bulk: [],
  series: (count) => `(select generate_series(1::bigint, ${count}) as n)`,
  uuid: (number) => `('00000000-0000-7000-8000-' || lpad(to_hex(${number}), 12, '0'))::uuid`,
}

/**
 * Copies the newest link of each keyspace until the workspace has `count` more, with everything
 * that the service would have written beside them. Every tenth link has one of a hundred tags;
 * clicks vary.
 */
export async function fillWithLinks(place: DatabasePlace, count: number): Promise<void> {
  const { series, uuid, bulk } = place.databaseUrl === undefined ? SQLITE : POSTGRES
  const connection = await connect(place)
  const statements = [
    `insert into links
       (id, workspace_id, keyspace_id, key, key_folded, url, tags, created_at, updated_at)
     select ${uuid('n')}, template.workspace_id, template.keyspace_id, 'page-' || n, 'page-' || n,
       'https://example.com/articles/' || n || '?from=newsletter',
       case when n % 10 = 0 then '["tag-' || ((n / 10) % 100) || '"]' else '[]' end,
       template.created_at + n, template.created_at + n
     from ${series(count)} as numbers
     join (select links.*, row_number() over (order by seq) - 1 as turn from links) as template
       on template.turn = n % (select count(*) from links)
     order by n`,
    `insert into link_tags (workspace_id, tag, tag_folded, link_seq)
     select workspace_id, substr(tags, 3, length(tags) - 4), substr(tags, 3, length(tags) - 4), seq
     from links where tags <> '[]'`,
    `insert into link_clicks (link_seq, clicks, last_click)
     select seq, (seq * 7919) % 100003, created_at from links where seq not in (select link_seq from link_clicks)`,
    'delete from link_buckets',
    `insert into link_buckets (workspace_id, bucket, links)
     select workspace_id, seq / ${LINKS_PER_BUCKET}, count(*) from links group by 1, 2`,
    'analyze',
  ]
  try {
    for (const statement of [...bulk, ...statements]) await connection.run(statement)
  } finally {
    await connection.close()
  }
}

/** The time of the database for a page by OFFSET, which reads every row before it. */
export async function timePlainOffset(
  place: DatabasePlace,
  offset: number,
  limit: number,
): Promise<number[]> {
  const connection = await connect(place)
  const latencies: number[] = []
  try {
    for (let run = 0; run < OFFSET_QUERIES; run += 1) {
      const startedMs = performance.now()
      await connection.run(
        `select links.*, keyspaces.host from links
         join keyspaces on keyspaces.id = links.keyspace_id
         where links.workspace_id = (select id from workspaces)
         order by links.seq desc limit ${limit} offset ${offset}`,
      )
      latencies.push(performance.now() - startedMs)
    }
  } finally {
    await connection.close()
  }
  return latencies
}

async function connect(place: DatabasePlace): Promise<Connection> {
  if (place.databaseUrl === undefined) {
    const database = new DatabaseSync(sqliteFile(place.dataDir), { timeout: 10_000 })
    database.prepare('attach ? as counted').run(countedFile(place.dataDir))
    return {
      run: async (sql) => void database.prepare(sql).all(),
      close: async () => database.close(),
    }
  }
  const client = new pg.Client(place.databaseUrl)
  await client.connect()
  return { run: async (sql) => void (await client.query(sql)), close: () => client.end() }
}

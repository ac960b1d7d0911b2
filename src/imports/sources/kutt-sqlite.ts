import type { DatabaseSync } from 'node:sqlite'
import type { ImportSource } from '../import-source.ts'
import type { FileSettings } from '../source-settings.ts'
import {
  KUTT_TABLES,
  type KuttLinkRow,
  type KuttReader,
  type KuttVisitRow,
  kuttSource,
} from './kutt-rows.ts'
import { guardSqlite, openSourceDatabase, readSourceRows } from './sqlite-source.ts'

/** Opens Kutt's SQLite database, also while Kutt runs. Dates in it are in UTC. */
export function openKuttSqlite({ file }: FileSettings): ImportSource {
  return kuttSource('kutt-sqlite', async () =>
    readerOf(await openSourceDatabase(file, KUTT_TABLES, 'Kutt')),
  )
}

const LINKS = `
  select links.id, links.address, domains.address as domain, description, links.banned,
    coalesce(password, '') <> '' as is_protected, expire_in, target,
    visit_count, links.created_at, null as last_visit
  from links left join domains on domains.id = links.domain_id
  where links.id > ? order by links.id limit ?`
const LAST_VISITS = `
  select link_id, max(coalesce(updated_at, created_at)) as last_visit
  from visits where link_id between ? and ? group by link_id`
const VISITS = `
  select visits.id, link_id, links.address, total, visits.created_at, visits.updated_at
  from visits left join links on links.id = visits.link_id
  where visits.id > ? order by visits.id limit ?`

function readerOf(database: DatabaseSync): KuttReader {
  const isIndexed = hasVisitIndex(database)
  return {
    countLinks: async () =>
      guardSqlite(() =>
        Number(database.prepare('select count(*) as count from links').get()?.count),
      ),
    readLinks: async ({ afterId, limit }) =>
      guardSqlite(() => {
        const page = { afterId, limit }
        const rows = readSourceRows<KuttLinkRow>(database, 'links', database.prepare(LINKS), page)
        const [first, last] = [rows[0], rows.at(-1)]
        if (first === undefined || last === undefined || !isIndexed) return rows
        const visits = database.prepare(LAST_VISITS).all(first.id, last.id)
        const byLink = new Map(visits.map((row) => [row.link_id, row.last_visit]))
        return rows.map((row) => ({
          ...row,
          last_visit: (byLink.get(row.id) ?? null) as string | null,
        }))
      }),
    readVisits: async (page) =>
      readSourceRows<KuttVisitRow>(database, 'visits', database.prepare(VISITS), page),
    close: async () => {
      if (database.isOpen) database.close()
    },
  }
}

/** Without its index, each page of links would read all visits. */
function hasVisitIndex(database: DatabaseSync): boolean {
  const index = database
    .prepare(
      "select 1 from pragma_index_list('visits') as list join pragma_index_info(list.name) as part where part.seqno = 0 and part.name = 'link_id' and list.partial = 0",
    )
    .get()
  return index !== undefined
}

import type { DatabaseSync } from 'node:sqlite'
import type { ImportRecord, ImportSource } from '../import-source.ts'
import type { FileSettings } from '../source-kinds.ts'
import { linkRecord, refOf, refusedRecord } from './link-record.ts'
import { peerOptions } from './peer-options.ts'
import {
  columnsOf,
  guardSqlite,
  isUnreadable,
  openSourceDatabase,
  readSourceRows,
  type UnreadableRow,
} from './sqlite-source.ts'

const TABLE = { name: 'urls', columns: ['id', 'short_url', 'long_url', 'hits'] }
const PAGE_ROWS = 500
const MICROS_PER_SECOND = 1_000_000

/** Opens Chhoto URL's SQLite database, also while Chhoto URL runs. It has no creation dates and no single clicks. */
export function openChhoto({ file }: FileSettings): ImportSource {
  const opened = new Set<DatabaseSync>()
  const withDatabase = async () => {
    const database = await openSourceDatabase(file, [TABLE], 'Chhoto URL')
    opened.add(database)
    return database
  }
  const close = () => {
    for (const database of opened) if (database.isOpen) database.close()
    opened.clear()
  }
  return {
    name: 'chhoto',
    async countLinks() {
      const database = await withDatabase()
      const query = 'select count(*) as count from urls'
      return guardSqlite(() => Number(database.prepare(query).get()?.count))
    },
    async *read({ resume, signal }) {
      const database = await withDatabase()
      let afterId = resume === undefined ? Number.MIN_SAFE_INTEGER : Number(resume)
      const page = database.prepare(pageQuery(database))
      for (;;) {
        signal.throwIfAborted()
        const rows = readSourceRows<Row>(database, TABLE.name, page, { afterId, limit: PAGE_ROWS })
        for (const row of rows) yield toRecord(row)
        if (rows.length === 0) return
        afterId = rows.at(-1)?.id ?? afterId
      }
    },
    close: async () => close(),
  }
}

/** Columns that later versions have added are missing in a database of an earlier one. */
function pageQuery(database: DatabaseSync): string {
  const columns = columnsOf(database, TABLE.name)
  const optional = ['expiry_time', 'notes'].map((name) =>
    columns.has(name) ? name : `null as ${name}`,
  )
  return `select id, short_url, long_url, hits, ${optional.join(', ')} from urls where id > ? order by id limit ?`
}

type Row = { readonly id: number } & Readonly<Record<string, unknown>>

function toRecord(row: Row | UnreadableRow): ImportRecord {
  if (isUnreadable(row))
    return refusedRecord({
      resume: String(row.id),
      place: `urls, id ${row.id}`,
      reason: row.unreadable,
      row: '',
    })
  const { id, short_url: key, long_url: url, hits, expiry_time: expiry, notes } = row
  const at = { resume: String(id), place: `urls, id ${id}` }
  const refuse = (reason: string) => refusedRecord({ ...at, reason, row })
  if (typeof key !== 'string') return refuse('short_url is no text.')
  if (typeof url !== 'string') return refuse('long_url is no text.')
  if (!isCount(hits)) return refuse('hits is no count.')
  if (expiry !== null && !isCount(expiry)) return refuse('expiry_time is no date.')
  return linkRecord({
    ...at,
    // Unlike its id, the key says the same in another database.
    ref: refOf(key),
    key,
    url,
    // Versions before 7 wrote 0 for never.
    expires_at: expiry === null || expiry === 0 ? null : expiry * MICROS_PER_SECOND,
    clicks: hits,
    options: peerOptions('chhoto', { notes }, url).options,
  })
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0
}

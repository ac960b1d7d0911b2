import type { DatabaseSync } from 'node:sqlite'
import {
  guardSqlite,
  isUnreadable,
  openSourceDatabase,
  readSourceRows,
  type UnreadableRow,
} from './sqlite-source.ts'

const LINKS = {
  name: 'links',
  columns: ['slug', 'url', 'created_at', 'expiration', 'password'],
  isUnnumbered: true,
} as const
const TAGS = { name: 'link_tags', columns: ['link_slug', 'tag_name'], isUnnumbered: true } as const
const PAGE_ROWS = 500

const PAGE = 'select rowid as row_number, links.* from links where rowid > ? order by rowid limit ?'
const TAGS_OF = `
  select link_slug, tag_name from link_tags
  where link_slug in (select slug from links where rowid between ? and ?) order by tag_name`

/** `id` is Sink's own, and no number. */
type Row = Readonly<Record<string, unknown>> & { readonly row_number: number }

/** A row of Sink's table of links as its export would have it, or why it cannot be read. */
export type SinkRow = {
  readonly number: number
  readonly fields?: Readonly<Record<string, unknown>>
  readonly fault?: string
}

/** Reads the links of Sink's D1 database, a SQLite file, after a row. */
export async function* readSinkDatabase(
  file: string,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<SinkRow, void, void> {
  const database = await openSourceDatabase(file, [LINKS, TAGS], 'Sink')
  try {
    const page = database.prepare(PAGE)
    for (let afterId = after; ; ) {
      signal.throwIfAborted()
      const at = { afterId, limit: PAGE_ROWS, idColumn: 'rowid' } as const
      const rows = readSourceRows<Row>(database, LINKS.name, page, at)
      const [first, last] = [rows[0], rows.at(-1)]
      if (first === undefined || last === undefined) return
      const tags = readTags(database, numberOf(first), numberOf(last))
      for (const row of rows) {
        yield isUnreadable(row)
          ? { number: row.id, fault: row.unreadable }
          : { number: row.row_number, fields: exported(row, tags.get(row.slug) ?? []) }
      }
      afterId = numberOf(last)
    }
  } finally {
    database.close()
  }
}

function numberOf(row: Row | UnreadableRow): number {
  return isUnreadable(row) ? row.id : row.row_number
}

function readTags(
  database: DatabaseSync,
  first: number,
  last: number,
): ReadonlyMap<unknown, readonly unknown[]> {
  const rows = guardSqlite(() => database.prepare(TAGS_OF).all(first, last))
  const bySlug = Map.groupBy(rows, ({ link_slug }) => link_slug)
  return new Map([...bySlug].map(([slug, ofLink]) => [slug, ofLink.map((row) => row.tag_name)]))
}

/** In the export a value that is not set is missing, and the other names are those of JavaScript. */
function exported(row: Row, tags: readonly unknown[]): Readonly<Record<string, unknown>> {
  const { row_number: _number, created_at, updated_at, redirect_with_query, geo, ...others } = row
  const { normalized_url: _url, effective_expires_at: _expiry, cloaking, unsafe, ...rest } = others
  return {
    ...rest,
    tags,
    createdAt: created_at,
    updatedAt: updated_at,
    cloaking: flag(cloaking),
    unsafe: flag(unsafe),
    redirectWithQuery: flag(redirect_with_query),
    geo: typeof geo === 'string' ? parseJson(geo) : geo,
  }
}

function flag(value: unknown): unknown {
  return value === 1 || value === 0 ? value === 1 : value
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

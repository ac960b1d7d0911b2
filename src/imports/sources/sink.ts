import type { DatabaseSync } from 'node:sqlite'
import type { ImportRecord, ImportSource, LinkRecord } from '../import-source.ts'
import type { FileSettings } from '../source-kinds.ts'
import { sinkTargeting } from '../targeting/peer-targeting.ts'
import { type JsonItem, JsonItems } from './json-items.ts'
import { linkRecord, presentValues, RefusedRow, refOf, refusedRecord } from './link-record.ts'
import { peerOptions } from './peer-options.ts'
import { checkSourceFile, isSqlite, readSourceFile } from './source-file.ts'
import {
  guardSqlite,
  isUnreadable,
  openSourceDatabase,
  readSourceRows,
  type UnreadableRow,
} from './sqlite-source.ts'

/**
 * Opens what Sink exports: the file of its dashboard, a page of its API, or a daily backup; or its database, which has
 * the same links.
 */
export function openSink({ file }: FileSettings): ImportSource {
  return {
    name: 'sink',
    countLinks: async () => undefined,
    async *read({ resume, signal }) {
      await checkSourceFile(file)
      const after = resume === undefined ? 0 : Number(resume)
      if (await isSqlite(file)) {
        for await (const row of readSinkDatabase(file, after, signal)) yield toRecordOfRow(row)
        return
      }
      const items = new JsonItems('links', ['count', 'list_complete'])
      let read = 0
      for await (const chunk of readSourceFile(file, signal))
        for (const item of items.push(chunk)) {
          read = item.number
          if (item.number > after) yield toRecord(item)
        }
      items.end()
      const missing = findMissing(items.members, read)
      if (missing !== undefined && after <= read) yield missingRecord(missing, read)
    },
    close: async () => undefined,
  }
}

function toRecordOfRow({ number, fields, fault }: SinkRow): ImportRecord {
  const at = { resume: String(number), place: `links, row ${number}` }
  try {
    if (fields === undefined) throw new RefusedRow(fault ?? '')
    return toLink(fields, at)
  } catch (error) {
    if (!(error instanceof RefusedRow)) throw error
    return refusedRecord({
      ...at,
      reason: error.message,
      row: hidePassword(JSON.stringify(fields ?? {})),
    })
  }
}

/** Returns why the file cannot have all links, as a sentence. */
function findMissing(members: ReadonlyMap<string, unknown>, read: number): string | undefined {
  if (members.get('list_complete') === false)
    return 'The file is one page of an export: import the other pages too.'
  const count = members.get('count')
  return typeof count === 'number' && count !== read
    ? `The file says that it has ${count} links, and has ${read}.`
    : undefined
}

function missingRecord(reason: string, read: number): ImportRecord {
  return refusedRecord({ resume: String(read + 1), place: 'end of the file', reason, row: '' })
}

function toRecord({ number, text, fault }: JsonItem): ImportRecord {
  const at = { resume: String(number), place: `item ${number}` }
  try {
    if (fault !== undefined) throw new RefusedRow(fault)
    return toLink(parseObject(text), at)
  } catch (error) {
    if (!(error instanceof RefusedRow)) throw error
    return refusedRecord({ ...at, reason: error.message, row: hidePassword(text) })
  }
}

/** The end of a stored password is the end of the password itself. */
function hidePassword(text: string): string {
  return text.replace(/("password"\s*:\s*")(?:[^"\\]|\\.)*/g, '$1…')
}

type Fields = Readonly<Record<string, unknown>>

function parseObject(text: string): Fields {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new RefusedRow('It is no valid JSON.')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new RefusedRow('It is no object.')
  return value as Fields
}

function toLink(fields: Fields, at: { resume: string; place: string }): LinkRecord {
  const { slug, url, tags, createdAt, expiration, apple, google, password, ...others } = fields
  const { geo, ...rest } = others
  const key = getText(slug, 'slug')
  const devices = { ios: findText(apple, 'apple'), android: findText(google, 'google') }
  const targeting = sinkTargeting(devices, geo)
  const destination = getText(url, 'url')
  const { options, taken } = peerOptions('sink', rest, destination)
  return linkRecord({
    ...at,
    ref: refOf(key),
    key,
    url: destination,
    ios: targeting.ios,
    android: targeting.android,
    rules: targeting.rules,
    options,
    tags: getTags(tags),
    expires_at: findInstant(expiration, 'expiration'),
    // It is a hash, or what Sink's lists show in its place.
    protection: isMissing(password) ? { kind: 'none' } : { kind: 'unknown password' },
    created_at: findInstant(createdAt, 'createdAt'),
    rest: presentValues({
      ...rest,
      ...Object.fromEntries(taken.map((name) => [name, undefined])),
      ...targeting.rest,
    }),
    notes: [...noteLosses(rest), ...targeting.notes],
  })
}

function noteLosses({ unsafe, cloaking }: Fields): readonly string[] {
  const notes: string[] = []
  if (unsafe === true) notes.push('Sink warned visitors first; Terse redirects at once.')
  if (cloaking === true) notes.push('Sink showed the destination in a frame; Terse redirects.')
  return notes
}

const isMissing = (value: unknown) => value === undefined || value === null || value === ''

function getText(value: unknown, name: string): string {
  if (typeof value !== 'string') throw new RefusedRow(`${name} is no text.`)
  return value
}

function findText(value: unknown, name: string): string | null {
  return isMissing(value) ? null : getText(value, name)
}

function getTags(value: unknown): readonly string[] {
  if (isMissing(value)) return []
  if (!Array.isArray(value)) throw new RefusedRow('tags is no list.')
  return value.map((tag) => getText(tag, 'A tag'))
}

/** Sink checks nothing: a date of this many seconds, in the year 5138, is one in milliseconds. */
const SECONDS_MAX = 100_000_000_000

function findInstant(value: unknown, name: string): number | null {
  if (isMissing(value)) return null
  if (typeof value !== 'number' || !Number.isSafeInteger(value))
    throw new RefusedRow(`${name} is no date.`)
  return value < SECONDS_MAX ? value * 1_000_000 : value * 1_000
}

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

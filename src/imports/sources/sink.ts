import type { ImportRecord, LinkRecord } from '../import-record.ts'
import type { ImportSource } from '../import-source.ts'
import type { FileSettings } from '../source-settings.ts'
import { type JsonItem, JsonItems } from './json-items.ts'
import { linkRecord, presentValues, refOf } from './link-record.ts'
import { RefusedRow, refusedRecord } from './refused-record.ts'
import { readSinkDatabase, type SinkRow } from './sink-database.ts'
import { checkSourceFile, isSqlite, readSourceFile } from './source-file.ts'

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
  const { slug, url, tags, createdAt, expiration, apple, google, password, ...rest } = fields
  const key = getText(slug, 'slug')
  return linkRecord({
    ...at,
    ref: refOf(key),
    key,
    url: getText(url, 'url'),
    ios: findText(apple, 'apple'),
    android: findText(google, 'google'),
    tags: getTags(tags),
    expires_at: findInstant(expiration, 'expiration'),
    // It is a hash, or what Sink's lists show in its place.
    protection: isMissing(password) ? { kind: 'none' } : { kind: 'unknown password' },
    created_at: findInstant(createdAt, 'createdAt'),
    rest: presentValues(rest),
    notes: noteLosses(rest),
  })
}

function noteLosses({ unsafe, cloaking, geo }: Fields): readonly string[] {
  const notes: string[] = []
  if (unsafe === true) notes.push('Sink warned visitors first; Terse redirects at once.')
  if (cloaking === true) notes.push('Sink showed the destination in a frame; Terse redirects.')
  if (!isMissing(geo)) notes.push('Its destinations by country are kept beside the link only.')
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

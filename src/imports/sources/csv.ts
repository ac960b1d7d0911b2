import { createHash } from 'node:crypto'
import { likelyText } from '@terse/contract/csv'
import { fromFields } from '@terse/contract/link-fields'
import { formatInstant } from '../../platform/time/clock.ts'
import {
  type ImportRecord,
  type ImportSource,
  ImportSourceFault,
  type LinkProtection,
  type LinkRecord,
  RECORD_TEXTS,
} from '../import-source.ts'
import type { CsvSettings } from '../source-kinds.ts'
import {
  CSV_FIELDS,
  type CsvColumns,
  type CsvField,
  findDoubts,
  getColumn,
  isFlag,
  resolveColumns,
} from './csv/csv-columns.ts'
import { type CsvHeader, type CsvRow, readCsvRows } from './csv/csv-rows.ts'
import {
  clickLimit,
  linkRecord,
  presentValues,
  RefusedRow,
  refOf,
  refusedRecord,
} from './link-record.ts'
import { isTimeZone, parseCsvDate } from './source-dates.ts'

/** The labels of Dub's export, which has as many of them as were chosen. */
const DUB_COLUMNS = {
  short_link: 'Short link',
  url: 'Destination URL',
  clicks: 'Clicks',
  created_at: 'Created at',
  tags: 'Tags',
  /** Dub's archived links redirect, as those of Terse do. */
  archived: 'Archived',
} as const

/**
 * Opens a CSV file. A position to resume from is the number of a row, or half a row before it where the row has two
 * short links and the second is to come; those before it are read again, and skipped.
 */
export function openCsv(settings: CsvSettings): ImportSource {
  const { kind, file, timeZone } = settings
  if (!isTimeZone(timeZone))
    throw new ImportSourceFault(`There is no time zone ${timeZone}.`, { isTransient: false })
  return {
    name: kind,
    countLinks: async () => undefined,
    async *read({ resume, signal }) {
      const after = resume === undefined ? 0 : Number(resume)
      const rules = await readRules(settings, signal)
      for await (const row of readCsvRows(file, signal))
        if (!('names' in row))
          for (const record of toRecords(row, rules))
            if (Number(record.resume) > after) yield record
    },
    close: async () => undefined,
  }
}

/**
 * Reads the whole file once, since a value far below may say that links are closed.
 *
 * @throws {ImportSourceFault} when a needed column is missing, or one may say that links are closed
 */
async function readRules(
  { kind, file, map, ignored, timeZone }: CsvSettings,
  signal: AbortSignal,
): Promise<CsvRules> {
  const rows = readCsvRows(file, signal)
  const { value: header } = await rows.next()
  const { names } = header as CsvHeader
  const left = ignored.map((name) => getColumn(name, names))
  const given = kind === 'dub-csv' ? { ...dubColumns(names), ...map } : map
  const columns = resolveColumns(names, given, left)
  // A note that was recognized by its header alone may say that a link is closed.
  const unsure = map.notes === undefined ? (columns.get('notes') ?? []) : []
  const sure = [...columns.values()].flat().filter((column) => !unsure.includes(column))
  const known = new Set([...left, ...sure])
  const doubts = await findDoubts(names, known, rows)
  if (doubts.length === 0) return { names, columns, timeZone }
  const [{ name } = { name: '' }] = doubts
  const list = doubts.map((doubt) => `"${doubt.name}" (such as "${doubt.value}")`).join(', ')
  throw new ImportSourceFault(
    `A column that is not recognized may say which links are closed, limited or protected: ${list.slice(0, 1_000)}. ` +
      `Say what it is, such as --map closed="${name}", or leave it out: --ignore-column "${name}".`,
    { isTransient: false },
  )
}

function dubColumns(names: readonly string[]): Readonly<Record<string, string>> {
  const needed = ['short_link', 'url']
  return Object.fromEntries(
    Object.entries(DUB_COLUMNS).filter(
      ([field, label]) => needed.includes(field) || names.includes(label),
    ),
  )
}

/** A row has one link, or two that lead to one destination: clicks are those of both, and go to the first. */
function toRecords(row: CsvRow, rules: CsvRules): readonly ImportRecord[] {
  const [custom] = rules.columns.get('custom_link') ?? []
  const isDouble =
    custom !== undefined &&
    rules.columns.has('short_link') &&
    row.fault === undefined &&
    (row.values[custom] ?? '').trim() !== ''
  if (!isDouble) return [toRecord(row, rules, row.number)]
  const columns = new Map(rules.columns).set('short_link', [custom])
  for (const field of ['domain', 'key', 'clicks', 'last_click'] as const) columns.delete(field)
  return [toRecord(row, rules, row.number - 0.5), toRecord(row, { ...rules, columns }, row.number)]
}

function toRecord(row: CsvRow, rules: CsvRules, position: number): ImportRecord {
  const at = { resume: String(position), place: `line ${row.line}` }
  try {
    if (row.fault !== undefined) throw new RefusedRow(row.fault)
    return toCsvLink(row, rules, at)
  } catch (error) {
    if (!(error instanceof RefusedRow)) throw error
    return refusedRecord({ ...at, reason: error.message, row: showRow(row, rules) })
  }
}

/** Returns a row without its password. */
function showRow({ values, fault }: CsvRow, { columns }: CsvRules): string {
  const [password] = columns.get('password') ?? []
  if (password === undefined) return values.join(',')
  // Its columns may be others than those of the header.
  if (fault !== undefined) return 'Not shown: it may hold a password.'
  return values.map((value, at) => (at === password && value !== '' ? '…' : value)).join(',')
}

/** How the columns of a file are read. */
export type CsvRules = {
  readonly names: CsvHeader['names']
  readonly columns: CsvColumns
  readonly timeZone: string
}

/** @throws {RefusedRow} when the row has a value without which the link would be another, or more open */
export function toCsvLink(
  row: CsvRow,
  rules: CsvRules,
  at: { resume: string; place: string },
): LinkRecord {
  const values = new Map(CSV_FIELDS.map((field) => [field, textOf(row, rules.columns, field)]))
  const text = (field: CsvField) => values.get(field) || null
  const notes: string[] = []
  const rest = restOf(row, rules)
  const { domain, key } = targetOf(text)
  const url = text('url')
  if (url === null) throw new RefusedRow('It has no destination.')
  const note = (field: CsvField, fault: string) => {
    notes.push(`${field} "${text(field)?.slice(0, 100)}" ${fault}.`)
    rest[field] = text(field)
    return null
  }
  const date = (field: 'created_at' | 'last_click') => {
    const value = text(field)
    if (value === null) return null
    const parsed = parseCsvDate(value, rules.timeZone)
    return 'fault' in parsed ? note(field, parsed.fault) : parsed.instant
  }
  const count = (field: 'clicks' | 'external_id', parse: (text: string) => number | undefined) => {
    const value = text(field)
    return value === null ? null : (parse(value) ?? note(field, 'is no number'))
  }
  return linkRecord({
    ...at,
    ref: csvRef(domain, key, url),
    ...{ domain, key, url },
    ...fromFields(RECORD_TEXTS, text),
    external_id: count('external_id', parseInteger),
    tags: splitTags(text('tags') ?? ''),
    expires_at: expiryOf(text('expires_at'), rules.timeZone),
    protection: protectionOf(values.get('password') ?? '', rules),
    closed: closureOf(row, rules) ?? closedUntil(text, rules, rest) ?? limitReached(text, rest),
    options: optionsOf(text, rules),
    created_at: date('created_at'),
    clicks: count('clicks', parseCount),
    last_click: date('last_click'),
    ...{ rest, notes },
  })
}

function textOf(row: CsvRow, columns: CsvColumns, field: CsvField): string {
  const [at = -1] = columns.get(field) ?? []
  // A password is what it is.
  return field === 'password' ? (row.values[at] ?? '') : cellOf(row, at)
}

function cellOf(row: CsvRow, at: number): string {
  return likelyText(row.values[at] ?? '').trim()
}

/** Returns the columns that are no field, and have a value. */
function restOf(row: CsvRow, { names, columns }: CsvRules): Record<string, unknown> {
  const used = new Set([...columns.values()].flat())
  const others = names.flatMap((name, at) => {
    const value = used.has(at) ? '' : cellOf(row, at)
    return value === '' ? [] : [[name === '' ? `column ${at + 1}` : name, value]]
  })
  return Object.fromEntries(others)
}

function targetOf(text: (field: CsvField) => string | null): {
  domain: string | null
  key: string
} {
  const key = text('key')
  const shortLink = text('short_link') ?? (key?.includes('://') ? key : null)
  const parsed = shortLink === null ? undefined : parseShortLink(shortLink)
  if (shortLink !== null && parsed === undefined)
    throw new RefusedRow(`"${shortLink.slice(0, 200)}" is no short link.`)
  const own = key?.includes('://') ? null : (key?.replace(/^\//, '') ?? null)
  if (own === null && parsed === undefined) throw new RefusedRow('It has no key.')
  return {
    domain: text('domain') ?? parsed?.domain ?? null,
    key: own ?? parsed?.key ?? '',
  }
}

/**
 * The same for the same link in every run, though rows may move; unlike for two rows of one key that lead
 * elsewhere.
 */
function csvRef(domain: string | null, key: string, url: string): string {
  const hash = createHash('sha256').update(url).digest('hex').slice(0, 16)
  return refOf(`${domain ?? ''}/${key} ${hash}`)
}

/** @throws {RefusedRow} when it cannot be read: without it the link would never expire */
function expiryOf(text: string | null, timeZone: string): number | null {
  if (text === null || /^(?:0|never|none|null|-|n\/a)$/i.test(text)) return null
  const parsed = parseCsvDate(text, timeZone)
  if ('instant' in parsed) return parsed.instant
  throw new RefusedRow(`The expiry date "${text.slice(0, 100)}" ${parsed.fault}.`)
}

/** What services give in place of a password: a mark, or a hash. */
const NOT_GIVEN =
  /^(?:true|yes|protected|\*+|•+|\$2[aby]\$.*|\$argon2.*|sink-pwd:.*|__SINK_MASKED__.*)$/i

function protectionOf(value: string, { names, columns }: CsvRules): LinkProtection {
  const text = value.trim()
  if (text === '' || /^false$/i.test(text)) return { kind: 'none' }
  const [at = -1] = columns.get('password') ?? []
  if (isFlag(names[at] ?? ''))
    return /^(?:no|n|0|none)$/i.test(text) ? { kind: 'none' } : { kind: 'unknown password' }
  if (NOT_GIVEN.test(text)) return { kind: 'unknown password' }
  return { kind: 'password', password: value }
}

/** What says that a link redirects, in a column of each kind. An empty value says nothing. */
const OPEN = {
  closed: /^(?:false|no|0|n|none|null|-|active|enabled)$/i,
  active: /^(?:true|yes|1|y|x|on|active|enabled|published|live)$/i,
  // Numbers are the status codes of redirects.
  status: /^(?:active|enabled|ok|live|online|open|published|valid|true|1|200|30[12378])$/i,
} as const

/** Returns why the link does not redirect. A word that is not known closes it, so that nothing closed opens. */
function closureOf(row: CsvRow, { names, columns }: CsvRules): string | null {
  for (const kind of ['closed', 'active', 'status'] as const)
    for (const at of columns.get(kind) ?? []) {
      const value = cellOf(row, at)
      if (value === '' || OPEN[kind].test(value)) continue
      return `The column "${names[at]}" is "${value.slice(0, 100)}".`
    }
  return null
}

type TextOf = (field: CsvField) => string | null

/** Returns why the link must not redirect: the instant from which it should cannot be read. */
function closedUntil(
  text: TextOf,
  { timeZone }: CsvRules,
  rest: Record<string, unknown>,
): string | null {
  const start = text('starts_at')
  if (start === null || 'instant' in parseCsvDate(start, timeZone)) return null
  rest.starts_at = start
  return `It does not redirect before "${start.slice(0, 100)}", which cannot be read.`
}

/** Returns why the link does not redirect any more. */
function limitReached(text: TextOf, rest: Record<string, unknown>): string | null {
  const limit = limitTextOf(text)
  if (limit === null) return null
  const max = parseCount(limit)
  if (max !== undefined && (parseCount(text('clicks') ?? '') ?? 0) < max) return null
  if (max === undefined) rest.max_visits = limit
  return `It has reached its limit of "${limit.slice(0, 100)}" visits, or the limit cannot be read.`
}

/** Returns null for a link without a limit. */
function limitTextOf(text: TextOf): string | null {
  const limit = text('max_visits')
  return limit === null || /^(?:0|-|none|null|n\/a|unlimited|never)$/i.test(limit) ? null : limit
}

const YES = /^(?:true|yes|y|1|x|on)$/i

function optionsOf(text: TextOf, { timeZone }: CsvRules): LinkRecord['options'] {
  const start = parseCsvDate(text('starts_at') ?? '', timeZone)
  const texts = fromFields(['notes', 'title', 'description', 'image'], text)
  return {
    ...clickLimit(parseCount(limitTextOf(text) ?? '')),
    ...('instant' in start && { active_from: formatInstant(start.instant) }),
    ...presentValues(texts),
    ...(YES.test(text('archived') ?? '') && { archived: true }),
  }
}

/** The first of these that occurs separates the tags, so that a tag may have those after it. */
const TAG_SEPARATORS = ['|', ';', '\n', ',']

function splitTags(text: string): readonly string[] {
  const listed = text.startsWith('[') ? parseJsonTexts(text) : undefined
  if (listed !== undefined) return listed
  const separator = TAG_SEPARATORS.find((each) => text.includes(each))
  const tags = separator === undefined ? [text] : text.split(separator)
  return tags.map((tag) => tag.trim()).filter((tag) => tag !== '')
}

/** Returns the texts of a JSON array, as Terse exports tags; undefined for anything else. */
function parseJsonTexts(text: string): readonly string[] | undefined {
  try {
    const parsed: unknown = JSON.parse(text)
    return Array.isArray(parsed) && parsed.every((each) => typeof each === 'string')
      ? parsed
      : undefined
  } catch {
    return undefined
  }
}

/** Reads a count, with or without separators of thousands. */
function parseCount(text: string): number | undefined {
  if (!/^(?:\d{1,15}|\d{1,3}(?:[,.'’\s]\d{3}){1,4})$/.test(text)) return undefined
  return Number(text.replace(/\D/g, ''))
}

function parseInteger(text: string): number | undefined {
  const number = Number(text)
  return /^-?\d+$/.test(text) && Number.isSafeInteger(number) ? number : undefined
}

const SHORT_LINK = /^(?:https?:\/\/)?([^/?#\s@]+)(?:\/([^?#]*))?(?:[?#].*)?$/i

/**
 * Returns the domain and the decoded key of a short link, with or without its scheme; undefined for any other text.
 */
function parseShortLink(
  text: string,
): { readonly domain: string; readonly key: string } | undefined {
  const parts = SHORT_LINK.exec(text)
  const domain = parts?.[1] ?? ''
  if (!domain.includes('.') && !domain.includes(':') && !/^https?:/i.test(text)) return undefined
  if (domain === '') return undefined
  return { domain: domain.toLowerCase(), key: decode(parts?.[2] ?? '') }
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

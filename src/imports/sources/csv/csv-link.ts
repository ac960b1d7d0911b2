import { createHash } from 'node:crypto'
import { likelyText } from '@terse/contract/csv'
import { fromFields } from '@terse/contract/link-fields'
import { type LinkProtection, type LinkRecord, RECORD_TEXTS } from '../../import-record.ts'
import { linkRecord, refOf } from '../link-record.ts'
import { RefusedRow } from '../refused-record.ts'
import { CSV_FIELDS, type CsvColumns, type CsvField, isFlag } from './csv-columns.ts'
import { parseCsvDate } from './csv-dates.ts'
import type { CsvHeader, CsvRow } from './csv-rows.ts'
import { parseShortLink } from './short-link.ts'

/** How the columns of a file are read. */
export type CsvRules = {
  readonly names: CsvHeader['names']
  readonly columns: CsvColumns
  readonly timeZone: string
  /** What is compared with the instant from which a link redirects. */
  readonly nowMicros: number
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
    closed: closureOf(row, rules) ?? limitOf(text, rules, { notes, rest }),
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

/** Returns why the link does not redirect yet, or no more. Terse has no such limits: others are noted. */
function limitOf(
  text: (field: CsvField) => string | null,
  { timeZone, nowMicros }: CsvRules,
  { notes, rest }: { readonly notes: string[]; readonly rest: Record<string, unknown> },
): string | null {
  const start = text('starts_at')
  if (start !== null) {
    rest.starts_at = start
    const parsed = parseCsvDate(start, timeZone)
    const isKnown = 'instant' in parsed
    if (!isKnown || parsed.instant > nowMicros)
      return `It does not redirect before "${start.slice(0, 100)}".`
  }
  const limit = text('max_visits')
  if (limit === null || /^(?:0|-|none|null|n\/a|unlimited|never)$/i.test(limit)) return null
  rest.max_visits = limit
  const max = parseCount(limit)
  if (max === undefined || (parseCount(text('clicks') ?? '') ?? 0) >= max)
    return `It has reached its limit of "${limit.slice(0, 100)}" visits, or the limit cannot be read.`
  notes.push(`It has a limit of ${max} visits, which Terse does not have.`)
  return null
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

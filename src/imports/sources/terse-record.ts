import {
  EXPORT_VERSION,
  type ExportedRecord,
  type ExportHead,
  type ExportLine,
  exportLine,
} from '@terse/contract/export'
import { flagsOf, parseDay, startOfDay } from '../../clicks/index.ts'
import { type ImportRecord, ImportSourceFault } from '../import-source.ts'
import { linkRecord, RefusedRow, refusedRecord } from './link-record.ts'
import { type FileLine, LINE_BYTES_MAX, readFileLines } from './source-file.ts'

/** The id of a set means nothing in another workspace. */
const RULE_SET_NOTE = 'Its rule set is not in the export: choose one of this workspace.'
const HSTS_NOTE = 'HSTS is off until it is set again: HTTPS has to work before.'

/**
 * Checks the description of an export.
 *
 * @param text why it is none, as a sentence
 * @throws {ImportSourceFault} when it describes no export that this version reads
 */
export function parseExportHead(line: unknown, text: string): ExportHead {
  const head = exportLine.safeParse(line)
  if (head.data?.type === 'export') return head.data
  const { type, version } = (line ?? {}) as { type?: unknown; version?: unknown }
  const isNewer = type === 'export' && typeof version === 'number' && version > EXPORT_VERSION
  throw new ImportSourceFault(
    isNewer
      ? `The export has version ${version} of the format, and this program reads up to ${EXPORT_VERSION}. Update it.`
      : text,
    { isTransient: false },
  )
}

/** @throws {RefusedRow} when it is no line of an export */
export function parseExportLine(value: unknown): ExportLine {
  const { data: line, error } = exportLine.safeParse(value)
  if (error === undefined) return line
  const [issue] = error.issues
  const where = issue?.path.join('.') ?? ''
  const why = where === '' ? '' : `: ${where} is missing or wrong`
  throw new RefusedRow(`The line is no record of an export${why}.`)
}

/** Where a record is. */
type Place = { readonly resume: string; readonly place: string }

/** @throws {RefusedRow} for what is not imported */
export function toTerseRecord(line: ExportedRecord, place: Place, head: ExportHead): ImportRecord {
  switch (line.type) {
    case 'link':
      return toLink(line, place, head)
    case 'click':
      return toClick(line, place)
    case 'click_day': {
      const { link_id, day, clicks, bots, last_click } = line
      // Else no instant is known: the beginning of the day is not after the link's last click.
      const at = last_click === null ? startOfDay(parseDay(day) ?? 0) : last_click * 1_000_000
      const counted = { at, count: clicks, bots }
      return { kind: 'count', resume: place.resume, ref: link_id, interval: 'day', ...counted }
    }
    case 'labels': {
      const { parameter, labels } = line
      return { kind: 'labels', ...place, parameter, labels }
    }
    case 'conversion_settings': {
      const { type, ...settings } = line
      return { kind: 'conversion settings', ...place, settings }
    }
    case 'conversion':
      return toConversion(line, place)
    case 'rule_set': {
      const { type, id, created_at, updated_at, ...fields } = line
      return { kind: 'rule set', ...place, ...fields }
    }
    case 'domain_settings': {
      const { type, domain, rule_set, rule_set_name = null, ...settings } = line
      return { kind: 'domain settings', ...place, domain, settings, rule_set_name }
    }
    case 'domain': {
      const { domain, not_found_url, expired_url, hsts_max_age, is_default = false } = line
      const notes = hsts_max_age === null ? [] : [HSTS_NOTE]
      return { kind: 'domain', ...place, domain, not_found_url, expired_url, is_default, notes }
    }
    case 'utm_template': {
      const { type, id, created_at, updated_at, ...fields } = line
      return { kind: 'utm template', ...place, ...fields }
    }
    case 'member':
      throw new RefusedRow('Nobody becomes a member by an import: invite this person.')
  }
}

function toLink(
  line: Extract<ExportedRecord, { type: 'link' }>,
  at: Place,
  { service_host }: ExportHead,
): ImportRecord {
  const { type, id, domain, last_click, expires_at, created_at, ...fields } = line
  const {
    protected: isProtected,
    updated_at,
    imported,
    rules,
    examples,
    options,
    rule_set_name = null,
    ...values
  } = fields
  const { rule_set: ruleSetId = null, ...own } = options ?? {}
  const isUnnamed = ruleSetId !== null && rule_set_name === null
  return linkRecord({
    ...at,
    ...values,
    ...(isUnnamed && { notes: [RULE_SET_NOTE] }),
    rules: rules ?? [],
    examples: examples ?? [],
    options: own,
    rule_set_name,
    rest: { ...imported, ...(isUnnamed && { rule_set: ruleSetId }) },
    clicks_of: 'people',
    ref: id,
    domain: domain === service_host ? null : domain,
    protection: { kind: isProtected ? 'unknown password' : 'none' },
    expires_at,
    created_at: microsOf(created_at),
    last_click: last_click === null ? null : last_click * 1_000_000,
  })
}

function toClick(
  line: Extract<ExportedRecord, { type: 'click' }>,
  { resume }: Place,
): ImportRecord {
  const { device, os, browser, language, source, visitor, rule, variant, label } = line
  const { region, city } = line
  const flags = flagsOf(line.flags)
  return {
    kind: 'click',
    resume,
    ref: line.link_id,
    at: microsOf(line.at),
    address: null,
    user_agent: null,
    referrer: line.referrer ?? '',
    country: line.country ?? '',
    is_bot: flags !== 0,
    stored: {
      flags,
      count: line.count,
      visitor: visitorOf(visitor),
      device: device ?? '',
      os: os ?? '',
      browser: browser ?? '',
      language: language ?? '',
      source: source ?? '',
      rule: rule ?? '',
      variant: variant ?? '',
      label: label ?? '',
      region: region ?? '',
      city: city ?? '',
    },
  }
}

function toConversion(
  line: Extract<ExportedRecord, { type: 'conversion' }>,
  place: Place,
): ImportRecord {
  const { type, link_id, country, rule, variant, label, ...fields } = line
  if ((line.value === null) !== (line.currency === null)) {
    throw new RefusedRow('value and currency come together.')
  }
  return {
    kind: 'conversion',
    ...place,
    ref: link_id,
    conversion: {
      ...fields,
      occurred_at: microsOf(line.occurred_at),
      recorded_at: microsOf(line.recorded_at),
      clicked_at: microsOf(line.clicked_at),
      country: country ?? '',
      rule: rule ?? '',
      variant: variant ?? '',
      label: label ?? '',
    },
  }
}

/** @throws {RefusedRow} when the text is no visitor's number */
function visitorOf(text: string | null): number {
  if (text === null) return 0
  if (!/^v[0-9a-f]{1,14}$/.test(text)) throw new RefusedRow('visitor is no number of a visitor.')
  const visitor = Number.parseInt(text.slice(1), 16)
  if (Number.isSafeInteger(visitor)) return visitor
  throw new RefusedRow('visitor is no number of a visitor.')
}

/** @throws {RefusedRow} when the text is no instant */
function microsOf(text: string): number {
  try {
    return Number(Temporal.Instant.from(text).epochNanoseconds / 1_000n)
  } catch {
    throw new RefusedRow(`"${text}" is no instant.`)
  }
}

/** Reads the lines of an export after a position. */
export async function* readNdjson(
  chunks: AsyncIterable<Buffer>,
  resume: string | undefined,
): AsyncGenerator<ImportRecord, void, void> {
  const after = Number(resume ?? 0)
  let head: ExportHead | undefined
  let last: FileLine | undefined
  let isComplete = false
  for await (const line of readFileLines(chunks)) {
    head ??= parseHead(line)
    last = line
    if (line.end <= after || line.number === 1) continue
    const { isEnd, record } = readLine(line, head)
    isComplete ||= isEnd
    if (record !== undefined) yield record
  }
  if (last !== undefined && last.end > after && !isComplete) yield cutOff(last)
}

function parseHead({ text = '' }: FileLine): ExportHead {
  const none = 'The file is no export of Terse: its first line does not describe one.'
  return parseExportHead(parseLine(text), none)
}

function readLine(
  { text, number, end, isCutOff }: FileLine,
  head: ExportHead,
): { isEnd: boolean; record?: ImportRecord } {
  const at = { resume: String(end), place: `line ${number}` }
  try {
    if (text === undefined) throw new RefusedRow(`The line has more than ${LINE_BYTES_MAX} bytes.`)
    const value = parseLine(text)
    if (value === undefined && isCutOff) throw new RefusedRow('The line is cut off.')
    const line = parseExportLine(value)
    if (line.type === 'end') return { isEnd: true }
    if (line.type === 'cursor' || line.type === 'export') return { isEnd: false }
    return { isEnd: false, record: toTerseRecord(line, at, head) }
  } catch (error) {
    if (!(error instanceof RefusedRow)) throw error
    const row = text?.slice(0, 2_000) ?? ''
    return { isEnd: false, record: refusedRecord({ ...at, reason: error.message, row }) }
  }
}

/** Undefined for a text that is no JSON. */
function parseLine(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function cutOff({ number, end }: FileLine): ImportRecord {
  const reason =
    'The file ends before the export does. Export it again, and import it again: what was taken is not taken twice.'
  return refusedRecord({ resume: String(end), place: `line ${number}`, reason, row: '' })
}

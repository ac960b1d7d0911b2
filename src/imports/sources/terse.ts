import {
  EXPORT_VERSION,
  type ExportedRecord,
  type ExportHead,
  exportLine,
} from '@terse/contract/export'
import { flagsOf } from '../../clicks/index.ts'
import type { ImportRecord } from '../import-record.ts'
import { type ImportSource, ImportSourceFault } from '../import-source.ts'
import type { FileSettings } from '../source-settings.ts'
import { type FileLine, LINE_BYTES_MAX, readFileLines } from './file-lines.ts'
import { linkRecord } from './link-record.ts'
import { RefusedRow, refusedRecord } from './refused-record.ts'
import { checkSourceFile } from './source-file.ts'

const HSTS_NOTE = 'HSTS is off until it is set again: HTTPS has to work before.'

/** Opens an NDJSON export of Terse. A position to resume from is an offset in bytes. */
export function openTerseExport({ file }: Pick<FileSettings, 'file'>): ImportSource {
  return {
    name: 'terse',
    countLinks: async () => undefined,
    async *read({ resume, signal }) {
      await checkSourceFile(file)
      const after = Number(resume ?? 0)
      let head: ExportHead | undefined
      let last: FileLine | undefined
      let isComplete = false
      for await (const line of readFileLines(file, signal)) {
        head ??= parseHead(line)
        last = line
        if (line.end <= after || line.number === 1) continue
        const { isEnd, record } = readLine(line, head)
        isComplete ||= isEnd
        if (record !== undefined) yield record
      }
      if (last !== undefined && last.end > after && !isComplete) yield cutOff(last)
    },
    close: async () => undefined,
  }
}

/** @throws {ImportSourceFault} when the line is not the first one of an export that this version reads */
function parseHead({ text = '' }: FileLine): ExportHead {
  const line = parseLine(text)
  const head = exportLine.safeParse(line)
  if (head.data?.type === 'export') return head.data
  const { type, version } = (line ?? {}) as { type?: unknown; version?: unknown }
  const isNewer = type === 'export' && typeof version === 'number' && version > EXPORT_VERSION
  throw new ImportSourceFault(
    isNewer
      ? `The export has version ${version} of the format, and this program reads up to ${EXPORT_VERSION}. Update it.`
      : 'The file is no NDJSON export of Terse: its first line does not describe one.',
    { isTransient: false },
  )
}

function readLine(
  { text, number, end, isCutOff }: FileLine,
  head: ExportHead,
): { isEnd: boolean; record?: ImportRecord } {
  const at = { resume: String(end), place: `line ${number}` }
  try {
    if (text === undefined) throw new RefusedRow(`The line has more than ${LINE_BYTES_MAX} bytes.`)
    const { data: line, error } = exportLine.safeParse(parseLine(text))
    if (error !== undefined) {
      const [issue] = error.issues
      const where = issue?.path.join('.') ?? ''
      const why = where === '' ? '' : `: ${where} is missing or wrong`
      throw new RefusedRow(
        isCutOff ? 'The line is cut off.' : `The line is no record of an export${why}.`,
      )
    }
    if (line.type === 'end') return { isEnd: true }
    if (line.type === 'cursor' || line.type === 'export') return { isEnd: false }
    return { isEnd: false, record: toRecord(line, at, head) }
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

type Place = { readonly resume: string; readonly place: string }

/** @throws {RefusedRow} for what is not imported */
function toRecord(line: ExportedRecord, at: Place, head: ExportHead): ImportRecord {
  switch (line.type) {
    case 'link':
      return toLink(line, at, head)
    case 'click':
      return toClick(line, at)
    case 'domain': {
      const { domain, not_found_url, expired_url, hsts_max_age } = line
      const notes = hsts_max_age === null ? [] : [HSTS_NOTE]
      return { kind: 'domain', ...at, domain, not_found_url, expired_url, notes }
    }
    case 'utm_template': {
      const { type, id, created_at, updated_at, ...fields } = line
      return { kind: 'utm template', ...at, ...fields }
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
  const { protected: isProtected, updated_at, imported, ...values } = fields
  return linkRecord({
    ...at,
    ...values,
    rest: imported ?? {},
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
  const { device, os, browser, language, source, visitor } = line
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

function cutOff({ number, end }: FileLine): ImportRecord {
  const reason =
    'The file ends before the export does. Export it again, and import it again: what was taken is not taken twice.'
  return refusedRecord({ resume: String(end), place: `line ${number}`, reason, row: '' })
}

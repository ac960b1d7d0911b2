import type { ImportRecord } from '../import-record.ts'
import { type ImportSource, ImportSourceFault } from '../import-source.ts'
import type { CsvSettings } from '../source-settings.ts'
import { getColumn, resolveColumns } from './csv/csv-columns.ts'
import { findDoubts } from './csv/csv-doubts.ts'
import { type CsvRules, toCsvLink } from './csv/csv-link.ts'
import { type CsvHeader, type CsvRow, readCsvRows } from './csv/csv-rows.ts'
import { RefusedRow, refusedRecord } from './refused-record.ts'
import { isTimeZone } from './source-dates.ts'

/** The labels of Dub's export, which has as many of them as were chosen. */
const DUB_COLUMNS = {
  short_link: 'Short link',
  url: 'Destination URL',
  clicks: 'Clicks',
  created_at: 'Created at',
  tags: 'Tags',
} as const
/** Dub's archived links redirect. */
const DUB_IGNORED = ['Archived']

/**
 * Opens a CSV file. A position to resume from is the number of a row, or half a row before it where the row has two
 * short links and the second is to come; those before it are read again, and skipped.
 */
export function openCsv(settings: CsvSettings, nowMs: () => number = Date.now): ImportSource {
  const { kind, file, timeZone } = settings
  if (!isTimeZone(timeZone))
    throw new ImportSourceFault(`There is no time zone ${timeZone}.`, { isTransient: false })
  return {
    name: kind,
    countLinks: async () => undefined,
    async *read({ resume, signal }) {
      const after = resume === undefined ? 0 : Number(resume)
      const rules = await readRules(settings, nowMs() * 1_000, signal)
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
  nowMicros: number,
  signal: AbortSignal,
): Promise<CsvRules> {
  const rows = readCsvRows(file, signal)
  const { value: header } = await rows.next()
  const { names } = header as CsvHeader
  const isDub = kind === 'dub-csv'
  const left = ignored.map((name) => getColumn(name, names))
  if (isDub) left.push(...DUB_IGNORED.map((name) => names.indexOf(name)))
  const columns = resolveColumns(names, isDub ? { ...dubColumns(names), ...map } : map, left)
  const known = new Set([...left, ...[...columns.values()].flat()])
  const doubts = await findDoubts(names, known, rows)
  if (doubts.length === 0) return { names, columns, timeZone, nowMicros }
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

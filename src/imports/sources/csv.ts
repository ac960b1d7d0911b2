import type { ImportRecord } from '../import-record.ts'
import { type ImportSource, ImportSourceFault } from '../import-source.ts'
import type { CsvSettings } from '../source-settings.ts'
import { resolveColumns } from './csv/csv-columns.ts'
import { type CsvRules, toCsvLink } from './csv/csv-link.ts'
import { type CsvRow, readCsvRows } from './csv/csv-rows.ts'
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

/**
 * Opens a CSV file. A position to resume from is the number of a row; those before it are read again, and skipped.
 */
export function openCsv({ kind, file, map, timeZone }: CsvSettings): ImportSource {
  if (!isTimeZone(timeZone))
    throw new ImportSourceFault(`There is no time zone ${timeZone}.`, { isTransient: false })
  return {
    name: kind,
    countLinks: async () => undefined,
    async *read({ resume, signal }) {
      const after = resume === undefined ? 0 : Number(resume)
      let rules: CsvRules | undefined
      for await (const row of readCsvRows(file, signal)) {
        if ('names' in row) {
          const { names } = row
          const given = kind === 'dub-csv' ? { ...dubColumns(names), ...map } : map
          rules = { names, columns: resolveColumns(names, given), timeZone }
        } else if (rules !== undefined && row.number > after) yield toRecord(row, rules)
      }
    },
    close: async () => undefined,
  }
}

function dubColumns(names: readonly string[]): Readonly<Record<string, string>> {
  const needed = ['short_link', 'url']
  return Object.fromEntries(
    Object.entries(DUB_COLUMNS).filter(
      ([field, label]) => needed.includes(field) || names.includes(label),
    ),
  )
}

function toRecord(row: CsvRow, rules: CsvRules): ImportRecord {
  const at = { resume: String(row.number), place: `line ${row.line}` }
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
  const password = columns.get('password')
  if (password === undefined) return values.join(',')
  // Its columns may be others than those of the header.
  if (fault !== undefined) return 'Not shown: it may hold a password.'
  return values.map((value, at) => (at === password && value !== '' ? '…' : value)).join(',')
}

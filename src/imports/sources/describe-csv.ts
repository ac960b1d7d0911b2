import { type CsvField, findMissing, guessColumns } from './csv/csv-columns.ts'
import { type CsvHeader, readCsvRows } from './csv/csv-rows.ts'

/** What a person needs to say which column is which. */
export type CsvDescription = {
  readonly headers: readonly string[]
  /** The first rows, of which each may have fewer or more columns than the header. */
  readonly rows: readonly (readonly string[])[]
  /** The columns that were recognized, in the form of `CsvSettings.map`. */
  readonly map: Readonly<Partial<Record<CsvField, string>>>
  /** The field that has to be mapped before the file can be imported. */
  readonly missing: CsvField | undefined
}

const ROWS_SHOWN = 5

/** @throws {ImportSourceFault} when the file cannot be read, or has no header */
export async function describeCsv(file: string, signal: AbortSignal): Promise<CsvDescription> {
  let header: CsvHeader | undefined
  const rows: (readonly string[])[] = []
  for await (const row of readCsvRows(file, signal)) {
    if ('names' in row) header = row
    else rows.push(row.values)
    if (rows.length === ROWS_SHOWN) break
  }
  const headers = header?.names ?? []
  const columns = guessColumns(headers)
  const map = Object.fromEntries([...columns].map(([field, at]) => [field, headers[at]]))
  return { headers, rows, map, missing: findMissing(columns)?.field }
}

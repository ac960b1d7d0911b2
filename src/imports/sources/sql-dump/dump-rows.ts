import { ImportSourceFault } from '../../import-source.ts'
import { readSourceFile } from '../source-file.ts'
import { DumpParser, type DumpRow } from './dump-parser.ts'

/** One table of a service, whose name may have a prefix that its operator chose. */
export type DumpTable = {
  readonly suffix: string
  /** It has these columns, and may have more. */
  readonly columns: readonly string[]
}

/** A row with the values of its columns by their names, in lower case. */
export type NamedRow = DumpRow & { readonly named: ReadonlyMap<string, string | null> }

/**
 * Reads the rows of one table of a dump, and those after a position when one is given.
 *
 * @throws {ImportSourceFault} when the file cannot be read, is incomplete, or has two such tables
 */
export async function* readDumpRows(
  file: string,
  table: DumpTable,
  options: { readonly after: number; readonly signal: AbortSignal },
): AsyncGenerator<NamedRow, void, void> {
  const parser = new DumpParser((name) => name.toLowerCase().endsWith(table.suffix))
  let found: string | undefined
  for await (const chunk of readSourceFile(file, options.signal)) {
    for (const row of parser.push(chunk)) {
      const columns = row.columns?.map((name) => name.toLowerCase())
      if (columns === undefined)
        throw new ImportSourceFault(
          `The dump does not name the columns of ${row.table}: make it with --complete-insert, or without --no-create-info.`,
          { isTransient: false },
        )
      if (!table.columns.every((name) => columns.includes(name))) continue
      found ??= row.table
      if (found !== row.table)
        throw new ImportSourceFault(
          `The dump has several sites (${found} and ${row.table}). Make a dump of each, and import them one by one.`,
          { isTransient: false },
        )
      if (row.end > options.after) yield nameValues(row, columns)
    }
  }
  parser.end()
}

function nameValues(row: DumpRow, columns: readonly string[]): NamedRow {
  const { values } = row
  const isUneven = row.fault === undefined && values.length !== columns.length
  const fault = isUneven
    ? `It has ${values.length} values for ${columns.length} columns.`
    : row.fault
  const named = new Map(columns.map((name, at) => [name, values[at] ?? null]))
  return { ...row, named, fault }
}

import { ImportSourceFault } from './import-source.ts'
import { guessColumns } from './sources/csv/csv-columns.ts'
import { readCsvRows } from './sources/csv/csv-rows.ts'

/** The columns of a CSV file. */
export type FileColumns = {
  readonly names: readonly string[]
  /** From the fields of a link that were recognized to the columns that have them. */
  readonly fields: Readonly<Record<string, string>>
}

/** Returns the columns of a file of which at least the beginning is there; none where that is no CSV. */
export async function readFileColumns(file: string): Promise<FileColumns> {
  const rows = readCsvRows(file, new AbortController().signal)
  try {
    const { value: header } = await rows.next()
    const names = header !== undefined && 'names' in header ? header.names : []
    const guessed = [...guessColumns(names)].map(([field, [at = -1]]) => [field, names[at] ?? ''])
    return { names, fields: Object.fromEntries(guessed) }
  } catch (error) {
    if (error instanceof ImportSourceFault) return { names: [], fields: {} }
    throw error
  } finally {
    await rows.return()
  }
}

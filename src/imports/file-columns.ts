import { ImportSourceFault } from './import-source.ts'
import { guessColumns, isFlag } from './sources/csv/csv-columns.ts'
import { readCsvRows } from './sources/csv/csv-rows.ts'

/** The columns of a CSV file. */
export type FileColumns = {
  readonly names: readonly string[]
  /** From the fields of a link that were recognized to the columns that have them. */
  readonly fields: Readonly<Record<string, string>>
}

/** A column, for a person who says what it has. */
export type SampledColumn = {
  readonly name: string
  /** The field that was recognized. */
  readonly field: string | null
  /** Different values from the first rows. */
  readonly samples: readonly string[]
}

const SAMPLES_MAX = 3
const SAMPLE_LENGTH_MAX = 200
/** Rows in which values are looked for. */
const ROWS_MAX = 1_000
/** In place of a password. */
const HIDDEN = '••••••'

/** Returns the columns of a file of which at least the beginning is there; none where that is no CSV. */
export async function readFileColumns(file: string): Promise<FileColumns> {
  const { names } = await readBeginning(file, 0)
  const guessed = [...guessColumns(names)].map(([field, [at = -1]]) => [field, names[at] ?? ''])
  return { names, fields: Object.fromEntries(guessed) }
}

/** The same with values of each column, except passwords. */
export async function sampleColumns(file: string): Promise<readonly SampledColumn[]> {
  const { names, samples } = await readBeginning(file, ROWS_MAX)
  const fields = new Map(
    [...guessColumns(names)].flatMap(([field, columns]) => columns.map((at) => [at, field])),
  )
  return names.map((name, at) => {
    const field = fields.get(at) ?? null
    const values = [...(samples[at] ?? [])]
    const isSecret = field === 'password' && !isFlag(name)
    return { name, field, samples: isSecret ? values.slice(0, 1).map(() => HIDDEN) : values }
  })
}

/** Returns the header, and of each column the first values that differ. */
async function readBeginning(
  file: string,
  rowsMax: number,
): Promise<{ names: readonly string[]; samples: readonly ReadonlySet<string>[] }> {
  const rows = readCsvRows(file, new AbortController().signal)
  let names: readonly string[] = []
  let samples: Set<string>[] = []
  try {
    for await (const row of rows) {
      if ('names' in row) {
        names = row.names
        samples = names.map(() => new Set())
      } else takeSamples(samples, row.values)
      if (('number' in row ? row.number : 0) >= rowsMax) break
      if (samples.every(({ size }) => size === SAMPLES_MAX)) break
    }
  } catch (error) {
    // What was read before stays: the import itself says what is wrong with the rest.
    if (!(error instanceof ImportSourceFault)) throw error
  } finally {
    await rows.return()
  }
  return { names, samples }
}

function takeSamples(samples: readonly Set<string>[], values: readonly string[]): void {
  for (const [at, sample] of samples.entries()) {
    const value = values[at]?.trim().slice(0, SAMPLE_LENGTH_MAX) ?? ''
    if (value !== '' && sample.size < SAMPLES_MAX) sample.add(value)
  }
}

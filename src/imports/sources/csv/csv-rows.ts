import { isUtf8 } from 'node:buffer'
import { Readable } from 'node:stream'
import { CsvError, type Info, parse } from 'csv-parse'
import { ImportSourceFault } from '../../import-source.ts'
import { checkSourceFile, readSourceFile } from '../source-file.ts'

/** A row after the header. */
export type CsvRow = {
  /** Which row after the header, from 1. */
  readonly number: number
  /** The line on which it ends; the first of the file is 1. */
  readonly line: number
  readonly values: readonly string[]
  /** Why the values cannot be read, as a sentence. */
  readonly fault: string | undefined
}

export type CsvHeader = { readonly delimiter: string; readonly names: readonly string[] }

/** A longer row is one in which a quote was never closed. */
const ROW_LENGTH_MAX = 1024 * 1024
const DELIMITERS = [',', ';', '\t', '|']
/** Of spreadsheets that write the delimiter into the first line. */
const DELIMITER_LINE = /^"?sep=([,;|\t])"?\r?\n/i

/**
 * Reads the rows of a CSV file. The first item is its header. Delimiter and line ends are recognized.
 *
 * @throws {ImportSourceFault} when the file cannot be read, or a quote is never closed
 */
export async function* readCsvRows(
  file: string,
  signal: AbortSignal,
): AsyncGenerator<CsvHeader | CsvRow, void, void> {
  await checkSourceFile(file)
  yield* parseCsvRows(readSourceFile(file, signal))
}

/** As `readCsvRows`, from text in UTF-8. */
export async function* parseCsvRows(
  chunks: AsyncGenerator<Buffer, void, void>,
): AsyncGenerator<CsvHeader | CsvRow, void, void> {
  const first = (await chunks.next()).value ?? Buffer.alloc(0)
  const start = first.toString('latin1')
  const delimiterLine = DELIMITER_LINE.exec(start)
  const delimiter = delimiterLine?.[1] ?? guessDelimiter(start)
  const skippedLines = delimiterLine === null ? 0 : 1
  const parser = parse({
    delimiter,
    // Bytes stay what they are, and each field is decoded by itself.
    encoding: 'latin1',
    info: true,
    max_record_size: ROW_LENGTH_MAX,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
  })
  const input = Readable.from(joinChunks(first.subarray(delimiterLine?.[0].length ?? 0), chunks))
  // Ends the parser too: an error of the file is thrown below.
  input.on('error', (error) => parser.destroy(error))
  let names: readonly string[] | undefined
  let number = 0
  try {
    for await (const row of input.pipe(parser)) {
      const { record, info } = row as { record: string[]; info: Info }
      const line = info.lines + skippedLines
      if (names === undefined) {
        const header = { delimiter, names: record.map(decodeName) }
        names = header.names
        yield header
        continue
      }
      number += 1
      yield { number, line, ...checkRow(record, names.length) }
    }
  } catch (error) {
    throw csvFault(error, skippedLines)
  } finally {
    input.destroy()
  }
  if (names === undefined) throw emptyFault()
}

async function* joinChunks(
  first: Buffer,
  rest: AsyncGenerator<Buffer, void, void>,
): AsyncGenerator<Buffer, void, void> {
  yield first
  yield* rest
}

/** Returns the character that separates the columns of the first line, outside of quotes. */
function guessDelimiter(start: string): string {
  const counts = new Map(DELIMITERS.map((character) => [character, 0]))
  let isQuoted = false
  for (const character of start.trimStart()) {
    if (character === '"') isQuoted = !isQuoted
    else if (isQuoted) continue
    else if (character === '\n' || character === '\r') break
    const count = counts.get(character)
    if (count !== undefined) counts.set(character, count + 1)
  }
  return DELIMITERS.toSorted((a, b) => (counts.get(b) ?? 0) - (counts.get(a) ?? 0))[0] ?? ','
}

function decodeName(field: string): string {
  return (decodeField(field) ?? field).trim()
}

/** Returns undefined for a field that is not in UTF-8. */
function decodeField(field: string): string | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters of ASCII
  if (/^[\x00-\x7f]*$/.test(field)) return field
  const bytes = Buffer.from(field, 'latin1')
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined
}

function checkRow(record: readonly string[], columns: number): Pick<CsvRow, 'values' | 'fault'> {
  const decoded = record.map(decodeField)
  const values = decoded.map((value, at) => value ?? record[at] ?? '')
  if (decoded.includes(undefined))
    return { values, fault: 'It is not in UTF-8: save the file in this encoding.' }
  const isLonger = values.slice(columns).some((value) => value.trim() !== '')
  if (isLonger || values.length < columns)
    return { values, fault: `It has ${values.length} columns, and the header ${columns}.` }
  return { values, fault: undefined }
}

function csvFault(error: unknown, skippedLines: number): unknown {
  if (!(error instanceof CsvError)) return error
  const lines = Number(error.lines)
  const isLong = error.code === 'CSV_MAX_RECORD_SIZE'
  const what = isLong ? 'A row is longer than 1 MiB' : 'The file ends within quotes'
  return new ImportSourceFault(
    `${what}: a quote before line ${lines + skippedLines} is never closed.`,
    { isTransient: false, cause: error },
  )
}

function emptyFault(): ImportSourceFault {
  return new ImportSourceFault('The file has no header: its first line names the columns.', {
    isTransient: false,
  })
}

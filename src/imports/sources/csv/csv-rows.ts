import { isUtf8 } from 'node:buffer'
import { Readable } from 'node:stream'
import { type Info, parse } from 'csv-parse'
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

const ROW_BYTES_MAX = 1024 * 1024
/** Stands for a row that is too long, before the number of its lines. No text of a CSV file has a NUL. */
const LONG_ROW = '\0long row '
const DELIMITERS = [',', ';', '\t', '|']
/** The first line of spreadsheets that write the delimiter into it. */
const DELIMITER_LINE = /^"?sep=([,;|\t])"?\r?\n/i

/**
 * Reads the rows of a CSV file. The first item is its header. Delimiter and line ends are recognized. A row of more
 * than 1 MiB is returned with a fault.
 *
 * @throws {ImportSourceFault} when the file cannot be read, or ends within quotes: then after all rows before that
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
  let skippedLines = delimiterLine === null ? 0 : 1
  const parser = parse({
    delimiter,
    // Bytes stay what they are, and each field is decoded by itself.
    encoding: 'latin1',
    info: true,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
  })
  const whole = joinChunks(first.subarray(delimiterLine?.[0].length ?? 0), chunks)
  const scan = new RowScan(delimiter.charCodeAt(0))
  const input = Readable.from(completeRows(whole, scan))
  // Ends the parser too: an error of the file is thrown below.
  input.on('error', (error) => parser.destroy(error))
  let names: readonly string[] | undefined
  let number = 0
  try {
    for await (const row of input.pipe(parser)) {
      const { record, info } = row as { record: string[]; info: Info }
      const line = info.lines + skippedLines
      const isTooLong = record[0]?.startsWith(LONG_ROW) === true
      if (names === undefined) {
        if (isTooLong) throw emptyFault()
        const header = { delimiter, names: record.map(decodeName) }
        names = header.names
        yield header
        continue
      }
      number += 1
      if (isTooLong) {
        skippedLines += Number(record[0]?.slice(LONG_ROW.length))
        yield { number, line, values: [], fault: 'It is longer than 1 MiB.' }
      } else yield { number, line, ...checkRow(record, names.length) }
    }
  } finally {
    input.destroy()
  }
  if (names === undefined) throw emptyFault()
  if (scan.isQuoted) throw unclosedFault(scan.firstLine + (delimiterLine === null ? 0 : 1))
}

async function* joinChunks(
  first: Buffer,
  rest: AsyncGenerator<Buffer, void, void>,
): AsyncGenerator<Buffer, void, void> {
  yield first
  yield* rest
}

const CODE = { quote: 0x22, lineFeed: 0x0a, carriageReturn: 0x0d } as const

/**
 * Passes on whole rows, as the parser splits them, so that one without an end takes no memory. Instead of a row that is
 * too long it passes on `LONG_ROW`. What follows a quote that is never closed is not passed on.
 */
async function* completeRows(
  chunks: AsyncIterable<Buffer>,
  row: RowScan,
): AsyncGenerator<Buffer, void, void> {
  /** The bytes of a row that has not ended. */
  let begun: Buffer[] = []
  for await (const chunk of chunks) {
    const whole: Buffer[] = []
    let [sent, start] = [0, 0]
    for (let end = row.findEnd(chunk, 0); end !== undefined; end = row.findEnd(chunk, end)) {
      if (row.isTooLong) {
        whole.push(chunk.subarray(sent, start))
        whole.push(longRow(row))
        sent = end
      } else whole.push(...begun)
      begun = []
      start = end
      row.begin()
    }
    whole.push(chunk.subarray(sent, start))
    if (start > 0) yield Buffer.concat(whole)
    if (row.isTooLong) begun = []
    else begun.push(chunk.subarray(start))
  }
  if (row.isQuoted) return
  yield row.isTooLong ? longRow(row) : Buffer.concat(begun)
}

/** What stands for it has one line. */
function longRow({ lines }: RowScan): Buffer {
  return Buffer.from(`${LONG_ROW}${Math.max(0, lines - 1)}\n`, 'latin1')
}

/** Finds the ends of rows in bytes that come in chunks: line ends outside of quotes. */
class RowScan {
  readonly #separator: number
  /** `after quote`: within quotes it was the end, or the first of two. */
  #state: 'start' | 'plain' | 'quoted' | 'after quote' = 'start'
  #bytes = 0
  /** Lines of the file before the row. */
  #linesBefore = 0
  lines = 0

  constructor(separator: number) {
    this.#separator = separator
  }

  get isQuoted(): boolean {
    return this.#state === 'quoted'
  }

  get isTooLong(): boolean {
    return this.#bytes > ROW_BYTES_MAX
  }

  get firstLine(): number {
    return this.#linesBefore + 1
  }

  begin(): void {
    this.#linesBefore += this.lines
    this.#bytes = 0
    this.lines = 0
    this.#state = 'start'
  }

  /** Returns where the row ends, after its line end; undefined when it does not end in this chunk. */
  findEnd(chunk: Buffer, from: number): number | undefined {
    for (let at = from; at < chunk.length; at += 1) {
      const byte = chunk[at]
      const isLineEnd = byte === CODE.lineFeed || byte === CODE.carriageReturn
      if (byte === CODE.lineFeed) this.lines += 1
      if (this.#state === 'quoted') {
        if (byte === CODE.quote) this.#state = 'after quote'
      } else if (isLineEnd) {
        this.#state = 'start'
        if (byte === CODE.carriageReturn) {
          const next = chunk[at + 1]
          // A line feed may follow, in the next chunk too.
          if (next === undefined || next === CODE.lineFeed) continue
          this.lines += 1
        }
        this.#bytes += at + 1 - from
        return at + 1
      } else if (byte === CODE.quote && this.#state !== 'plain') this.#state = 'quoted'
      else this.#state = byte === this.#separator ? 'start' : 'plain'
    }
    this.#bytes += chunk.length - from
    return undefined
  }
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

function unclosedFault(line: number): ImportSourceFault {
  return new ImportSourceFault(
    `The file ends within quotes: a quote in line ${line} is never closed, and what follows it was not read.`,
    { isTransient: false },
  )
}

function emptyFault(): ImportSourceFault {
  return new ImportSourceFault('The file has no header: its first line names the columns.', {
    isTransient: false,
  })
}

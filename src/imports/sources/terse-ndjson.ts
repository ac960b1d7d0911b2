import type { ExportHead } from '@terse/contract/export'
import type { ImportRecord } from '../import-record.ts'
import { type FileLine, LINE_BYTES_MAX, readFileLines } from './file-lines.ts'
import { RefusedRow, refusedRecord } from './refused-record.ts'
import { parseExportHead, parseExportLine, toTerseRecord } from './terse-record.ts'

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

import type { RefusedRecord } from '../import-record.ts'

const ROW_LENGTH_MAX = 2_000

/** Returns the record of a row that cannot be taken. A row that is no text is shown as JSON. */
export function refusedRecord(refusal: {
  readonly resume: string
  readonly place: string
  /** Why, as a sentence. */
  readonly reason: string
  readonly row: unknown
}): RefusedRecord {
  const { resume, place, reason, row } = refusal
  const text = typeof row === 'string' ? row : JSON.stringify(row)
  return { kind: 'refused', resume, place, reason, row: text.slice(0, ROW_LENGTH_MAX) }
}

/** A row has a value that cannot be taken. The message is a sentence for the report. */
export class RefusedRow extends Error {
  override readonly name = 'RefusedRow'
}

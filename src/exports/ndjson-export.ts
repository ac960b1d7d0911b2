import type { ExportHead, ExportLine } from '@terse/contract/export'
import type { Batch, Position } from './read-workspace.ts'
import { type ExportedStores, readSection, type Section, type Subject } from './read-workspace.ts'

/** Lines of data between two cursors: what a client that was cut off receives twice at most. */
const RECORDS_PER_CURSOR = 1_000

/** Where an export goes on, and how many lines of data came before. */
export type Progress = { readonly position: Position; readonly records: number }

/**
 * Writes an export as one JSON object a line: the head, the data with cursors in between, the end.
 *
 * @param on.from where a broken export goes on; without it, from the beginning and with the head
 * @param on.onBatch called for each batch, including those that add no line
 */
export async function* ndjsonExport(
  stores: ExportedStores,
  subject: Subject,
  on: {
    readonly head: ExportHead
    readonly sections: readonly Section[]
    readonly from: Progress | undefined
    readonly writeCursor: (progress: Progress) => string
    readonly onBatch: () => void
  },
): AsyncGenerator<string, void, void> {
  const { head, sections, from } = on
  if (from === undefined) yield lineOf(head)
  let records = from?.records ?? 0
  let sinceCursor = 0
  const begin = from === undefined ? 0 : sections.indexOf(from.position.section)
  for (const section of sections.slice(begin)) {
    const mark = section === from?.position.section ? from.position.mark : undefined
    for await (const batch of readSection(stores, subject, section, mark)) {
      on.onBatch()
      records += batch.records.length
      sinceCursor += batch.records.length
      if (batch.records.length === 0) continue
      let text = batch.records.map(lineOf).join('')
      if (sinceCursor >= RECORDS_PER_CURSOR && canResume(batch)) {
        text += lineOf({
          type: 'cursor',
          cursor: on.writeCursor({ position: batch.next, records }),
        })
        sinceCursor = 0
      }
      yield text
    }
  }
  yield lineOf({ type: 'end', records })
}

/** A section without marks is read from its beginning. */
function canResume({ next }: Batch): boolean {
  return next.mark !== undefined
}

function lineOf(line: ExportLine): string {
  return `${JSON.stringify(line)}\n`
}

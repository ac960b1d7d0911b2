import { csvLine } from '@terse/contract/csv'
import {
  EXPORTED_LINK_FIELDS,
  type ExportedLinkRow,
  type ExportLinksQuery,
} from '@terse/contract/link-export'
import type { Actor } from '../identity/index.ts'
import { yieldToEventLoop } from '../platform/work/async.ts'
import type { FairQueue, FairQueueOptions } from '../platform/work/fair-queue.ts'
import type { Link } from './link.ts'
import type { Links } from './links.ts'
import { filterOf } from './list-links.ts'
import { presentLink } from './present.ts'

/** The limits for exports of links: one runs for as long as its client reads. */
export const LINK_EXPORT_QUEUE: FairQueueOptions = {
  work: 'link exports',
  concurrency: 64,
  concurrencyPerOwner: 4,
  waitingPerOwnerMax: 4,
  waitingMax: 256,
  deadlineMs: 5_000,
}

/** Read on the main thread of a SQLite instance: a few milliseconds. */
const LINKS_PER_BATCH = 200

export type LinkExportDependencies = {
  readonly links: Pick<Links, 'run'>
  /** With `LINK_EXPORT_QUEUE`. */
  readonly linkExports: FairQueue
}

/**
 * Writes the links that match, the newest first, as CSV or as one JSON object a line. It is no snapshot: a link
 * that changes while the export is read is in the state of that moment, and one that is created is left out.
 *
 * @param onBatch called for each batch, including those that add no line
 * @throws what `Links.run` throws, before the first text
 */
export async function* exportLinks(
  actor: Actor,
  query: ExportLinksQuery,
  { links, linkExports }: LinkExportDependencies,
  onBatch: () => void,
): AsyncGenerator<string, void, void> {
  const { format = 'csv', fields = EXPORTED_LINK_FIELDS } = query
  const filter = filterOf(query)
  const write = format === 'csv' ? csvLineOf : ndjsonLineOf
  const release = await linkExports.acquire(actor.workspaceId)
  try {
    let head = format === 'csv' ? csvLine(fields) : ''
    let beyond: number | undefined
    do {
      const run = { ...filter, beyond, limit: LINKS_PER_BATCH, descending: true }
      const { items, rest } = await links.run(actor, run)
      onBatch()
      const text = head + items.map((link) => write(rowOf(link), fields)).join('')
      head = ''
      if (text !== '') yield text
      beyond = rest
      await yieldToEventLoop()
    } while (beyond !== undefined)
  } finally {
    release()
  }
}

function rowOf(link: Link): ExportedLinkRow {
  const { workspace_id: _, password, ...fields } = presentLink(link)
  return { ...fields, protected: password !== null }
}

type Fields = readonly (keyof ExportedLinkRow)[]

function csvLineOf(row: ExportedLinkRow, fields: Fields): string {
  // Tags may contain any separator.
  return csvLine(
    fields.map((field) => {
      const value = row[field]
      return typeof value === 'object' && value !== null
        ? JSON.stringify(value)
        : String(value ?? '')
    }),
  )
}

function ndjsonLineOf(row: ExportedLinkRow, fields: Fields): string {
  return `${JSON.stringify(Object.fromEntries(fields.map((field) => [field, row[field]])))}\n`
}

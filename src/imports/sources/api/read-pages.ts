import { z } from 'zod'
import type { ImportRecord } from '../../import-record.ts'
import { ImportSourceFault } from '../../import-source.ts'
import type { SourceRecord } from './source-records.ts'

/** Items of a list, and from where the next page is read; undefined after the last. */
export type SourcePage<Item, Cursor> = {
  readonly items: readonly Item[]
  readonly next: Cursor | undefined
}

/** How one service's list of links is read. `Cursor` is JSON. */
export type PagedList<Item, Cursor> = {
  /** Returns the cursor of the first page; when absent, that page needs none. */
  firstCursor?(): Cursor
  fetchPage(cursor: Cursor | undefined, signal: AbortSignal): Promise<SourcePage<Item, Cursor>>
  /** Identifies an item within its page. */
  idOf(item: Item): string
  /** Returns the item's records after the first `skip`; the same ones in every run. */
  recordsOf(
    item: Item,
    context: { readonly place: string; readonly skip: number; readonly signal: AbortSignal },
    cursor: Cursor | undefined,
  ): AsyncIterable<SourceRecord>
}

const resumeSchema = z.object({
  page: z.int().min(1),
  cursor: z.unknown().optional(),
  id: z.string(),
  done: z.int().min(1),
})

type ResumePoint = z.infer<typeof resumeSchema>

/**
 * Reads a list page by page. A record's `resume` holds the cursor of its page, the item, and how many of the item's
 * records were yielded: a page that has changed since loses nothing, because it is read after that item, or as
 * a whole if the item has gone.
 */
export async function* readPages<Item, Cursor>(
  list: PagedList<Item, Cursor>,
  options: { readonly resume: string | undefined; readonly signal: AbortSignal },
): AsyncGenerator<ImportRecord, void, void> {
  const { signal } = options
  let point = options.resume === undefined ? undefined : parseResume(options.resume)
  let cursor = point === undefined ? list.firstCursor?.() : (point.cursor as Cursor | undefined)
  for (let page = point?.page ?? 1; ; page += 1) {
    const { items, next } = await list.fetchPage(cursor, signal)
    const start = point === undefined ? 0 : findItem(list, items, point.id)
    for (const [index, item] of [...items.entries()].slice(start)) {
      const id = list.idOf(item)
      let done = id === point?.id ? point.done : 0
      const context = { place: `page ${page}, item ${index + 1}`, skip: done, signal }
      for await (const record of list.recordsOf(item, context, cursor)) {
        done += 1
        const resume: ResumePoint = { page, cursor, id, done }
        yield { ...record, resume: JSON.stringify(resume) }
      }
    }
    if (next === undefined) return
    point = undefined
    cursor = next
  }
}

/** For items of which each makes its records at once. */
export async function* allAfter(
  records: readonly SourceRecord[],
  skip: number,
): AsyncGenerator<SourceRecord, void, void> {
  yield* records.slice(skip)
}

function findItem<Item, Cursor>(
  list: PagedList<Item, Cursor>,
  items: readonly Item[],
  id: string,
): number {
  return Math.max(
    0,
    items.findIndex((item) => list.idOf(item) === id),
  )
}

function parseResume(resume: string): ResumePoint {
  try {
    return resumeSchema.parse(JSON.parse(resume))
  } catch (cause) {
    const message = 'The import cannot be resumed: its stored place in the source is not readable.'
    throw new ImportSourceFault(message, { isTransient: false, cause })
  }
}

import { ImportSourceFault } from '../../import-source.ts'
import type { SourcePage } from './read-pages.ts'

/** Where a list was left: all items up to `time` were read, and the next one was at `start`. */
export type TimeCursor = { readonly start: number; readonly time: string | number }

/** Part of a list, from the item at `start`, which may be before the one that was asked for. */
type TimeSlice<Item> = {
  readonly start: number
  readonly items: readonly Item[]
  readonly isLast: boolean
}

export type TimeOrderedList<Item> = {
  fetchSlice(start: number, size: number): Promise<TimeSlice<Item>>
  /** Returns the instant by which the service orders the list. */
  timeOf(item: Item): string | number
  /** Orders items of equal times. */
  idOf(item: Item): string
  readonly order: 'newest first' | 'oldest first'
  readonly size: number
}

/** More links than this of the same second do not fit into one answer. */
const SIZE_MAX = 50_000

/**
 * Reads the next part of a list that a service orders by time alone and pages by offset. Such a list may show items of
 * equal times in another order each time, and moves while links are created and deleted. So each part ends where
 * the time changes, the items of one time all come from one answer, and a part begins with an item that was
 * read before: if it does not, the list has become shorter, and is read from further up. Items come in one order
 * every time, by time and ID.
 */
export async function readTimeOrderedPage<Item>(
  list: TimeOrderedList<Item>,
  cursor: TimeCursor | undefined,
): Promise<SourcePage<Item, TimeCursor>> {
  let { size } = list
  let start = Math.max(0, (cursor?.start ?? 0) - 1)
  for (;;) {
    const slice = await list.fetchSlice(start, size)
    const isNew = (item: Item) => cursor === undefined || isAfter(list, item, cursor.time)
    const [first] = slice.items
    if (slice.start > 0 && (first === undefined || isNew(first))) {
      start = Math.max(0, slice.start - size)
      continue
    }
    const items = inOrder(list, slice.items.filter(isNew))
    if (slice.isLast) return { items, next: undefined }
    const last = slice.items.at(-1)
    if (last === undefined) return { items, next: undefined }
    const lastTime = list.timeOf(last)
    const complete = items.filter((item) => list.timeOf(item) !== lastTime)
    const readTo = complete.at(-1)
    const ofLastTime = slice.items.findIndex((item) => list.timeOf(item) === lastTime)
    if (readTo !== undefined) {
      const next = { start: slice.start + ofLastTime, time: list.timeOf(readTo) }
      return { items: complete, next }
    }
    size = enlarged(size)
  }
}

function isAfter<Item>(list: TimeOrderedList<Item>, item: Item, time: string | number): boolean {
  const itemTime = list.timeOf(item)
  return list.order === 'newest first' ? itemTime < time : itemTime > time
}

function inOrder<Item>(list: TimeOrderedList<Item>, items: readonly Item[]): readonly Item[] {
  const direction = list.order === 'newest first' ? -1 : 1
  return items.toSorted((a, b) => {
    const [timeA, timeB] = [list.timeOf(a), list.timeOf(b)]
    if (timeA !== timeB) return timeA < timeB ? -direction : direction
    return list.idOf(a) < list.idOf(b) ? -1 : 1
  })
}

function enlarged(size: number): number {
  if (size * 2 <= SIZE_MAX) return size * 2
  const message = `More than ${SIZE_MAX} links were created in the same second, and the service cannot list them.`
  throw new ImportSourceFault(message, { isTransient: false })
}

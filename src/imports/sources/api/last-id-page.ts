import type { SourcePage } from './read-pages.ts'

/** The last item that was read, and the one that ended the page before. */
export type LastIdCursor = { readonly last: string; readonly before: string | undefined }

/**
 * Reads the page after an item's ID. A service that no longer has that item may answer with an empty page,
 * which looks like the end: so the page before is read again, and if the item has gone from it, reading
 * goes on with what that page holds. The importer knows the links of it that were read before.
 */
export async function lastIdPage<Item extends { readonly id: string }>(
  list: (last: string | undefined) => Promise<readonly Item[]>,
  cursor: LastIdCursor | undefined,
): Promise<SourcePage<Item, LastIdCursor>> {
  const items = await list(cursor?.last)
  if (items.length > 0 || cursor === undefined) return pageOf(items, cursor?.last)
  const again = await list(cursor.before)
  const lastRead = again.findIndex(({ id }) => id === cursor.last)
  return pageOf(again.slice(lastRead + 1), cursor.before)
}

function pageOf<Item extends { readonly id: string }>(
  items: readonly Item[],
  before: string | undefined,
): SourcePage<Item, LastIdCursor> {
  const last = items.at(-1)?.id
  return { items, next: last === undefined ? undefined : { last, before } }
}

import type { LinkQuery } from '../domain/links/link-store.ts'
import { isCounted, matches, type SeqRange, sortedBy } from './link-matches.ts'
import type { Scan, Scans } from './scans.ts'

/** The numbers of a page's links, in the list's order, and how many links the list has. */
type FoundPage = { readonly seqs: readonly number[]; readonly total: number }

/** Looks for a page among many links. */
export type FindPage = (scans: Scans, query: LinkQuery, scan: Scan) => Promise<FoundPage>

/** As long as a turn should take: others wait for it. */
const SLICE_MS = 40
/** A link may take 1 µs or, with the longest URL and the worst text to look for, 1 ms. */
const SLICE_LINKS_FIRST = 1_024
const SLICE_LINKS_MIN = 256
const SLICE_LINKS_MAX = 16_384
const SLICE_GROWTH_MAX = 4

/** Finds pages in the order of creation slice by slice, and all others by `findSorted`. */
export function findPageWith(findSorted: FindPage): FindPage {
  return (scans, query, scan) =>
    query.sort.field === 'created_at'
      ? findByAge(scans, query, scan)
      : findSorted(scans, query, scan)
}

async function findByAge(scans: Scans, query: LinkQuery, scan: Scan): Promise<FoundPage> {
  const { offset, limit, sort } = query
  const seqs: number[] = []
  let total = 0
  await forEachSlice(scans, query, scan, async (range) => {
    const count = await countMatches(scans, query, range)
    const skipped = Math.max(0, offset - total)
    const wanted = Math.min(limit - seqs.length, count - skipped)
    total += count
    if (wanted <= 0) return
    const rows = await scans.db
      .selectFrom('links')
      .select('links.seq')
      .where(matches(query, range))
      .orderBy('links.seq', sort.descending ? 'desc' : 'asc')
      .limit(wanted)
      .offset(skipped)
      .execute()
    seqs.push(...rows.map(({ seq }) => seq))
  })
  return { seqs, total }
}

export async function countMatches(
  { db }: Scans,
  query: LinkQuery,
  range?: SeqRange,
): Promise<number> {
  const { count } = await db
    .selectFrom('links')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where(matches(query, range))
    .executeTakeFirstOrThrow()
  return count
}

/**
 * Calls `look` for one run of the workspace's links after the other, each in a turn of its own and each
 * as long as one turn should take. With a tag, only links that carry it are walked over.
 */
export async function forEachSlice(
  scans: Scans,
  query: LinkQuery,
  scan: Scan,
  look: (range: SeqRange) => Promise<void>,
): Promise<void> {
  const { descending } = query.sort
  let links = SLICE_LINKS_FIRST
  let begin: number | undefined
  do {
    begin = await scan.turn(async () => {
      const startedMs = performance.now()
      const end = await endOfSlice(scans, query, begin, links)
      await look(descending ? { after: end, before: begin } : { after: begin, before: end })
      const factor = SLICE_MS / Math.max(1, performance.now() - startedMs)
      const wanted = Math.floor(links * Math.min(SLICE_GROWTH_MAX, factor))
      links = Math.min(SLICE_LINKS_MAX, Math.max(SLICE_LINKS_MIN, wanted))
      // The range leaves out both its ends, and the link at this one belongs to the next slice.
      return end === undefined ? undefined : end + (descending ? 1 : -1)
    })
  } while (begin !== undefined)
}

/** The first link behind a slice of so many links, in the list's direction; undefined when it is the last. */
async function endOfSlice(
  { db }: Scans,
  { workspaceId, tag, sort }: LinkQuery,
  begin: number | undefined,
  links: number,
): Promise<number | undefined> {
  const direction = sort.descending ? 'desc' : 'asc'
  const beyond = sort.descending ? '<' : '>'
  if (tag !== undefined) {
    const row = await db
      .selectFrom('link_tags')
      .select('link_seq')
      .where('workspace_id', '=', workspaceId)
      .where('tag', '=', tag)
      .$if(begin !== undefined, (qb) => qb.where('link_seq', beyond, begin ?? 0))
      .orderBy('link_seq', direction)
      .limit(1)
      .offset(links)
      .executeTakeFirst()
    return row?.link_seq
  }
  const row = await db
    .selectFrom('links')
    .select('seq')
    .where('workspace_id', '=', workspaceId)
    .$if(begin !== undefined, (qb) => qb.where('seq', beyond, begin ?? 0))
    .orderBy('seq', direction)
    .limit(1)
    .offset(links)
    .executeTakeFirst()
  return row?.seq
}

/** One statement for the number of links and one for the page: for an engine that runs several at once. */
export const findSortedAtOnce: FindPage = async (scans, query, scan) => {
  const { sort, limit, offset } = query
  const direction = sort.descending ? 'desc' : 'asc'
  const total = await scan.turn(() => countMatches(scans, query))
  const rows = await scan.turn(() =>
    scans.db
      .selectFrom('links')
      .$if(isCounted(sort.field), (qb) =>
        qb.leftJoin('link_clicks', 'link_clicks.link_seq', 'links.seq'),
      )
      .select('links.seq')
      .where(matches(query))
      .orderBy(sortedBy(sort.field), direction)
      .orderBy('links.seq', direction)
      .limit(limit)
      .offset(offset)
      .execute(),
  )
  return { seqs: rows.map(({ seq }) => seq), total }
}

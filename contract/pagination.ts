import { z } from 'zod'
import { queryInteger, timestamp } from './primitives.ts'

export const PER_PAGE_DEFAULT = 25
const PER_PAGE_MAX = 100
/** Several times the length of the longest cursor that the API returns. */
const CURSOR_LENGTH_MAX = 1_000

export const perPageQuery = queryInteger(PER_PAGE_MAX)
  .optional()
  .describe(`Items per page; ${PER_PAGE_DEFAULT} when left out.`)

export const cursorText = z.string().max(CURSOR_LENGTH_MAX)

export const pageQuery = z.strictObject({
  page: queryInteger(Number.MAX_SAFE_INTEGER).optional().describe('The page; the first is 1.'),
  per_page: perPageQuery,
  cursor: cursorText
    .optional()
    .describe(
      'Reads the list from a position instead of by page number. Send an empty cursor first; then the `meta.next_cursor` of the previous response, with the other parameters unchanged (`per_page` may change), until it is null. Each item that exists from the first request to the last is returned exactly once, even if items are created, updated or deleted meanwhile. Cannot be combined with `page`.',
    ),
})

const pageLink = z
  .object({
    url: z.string().nullable(),
    label: z.string().describe('`Previous`, a page number, `...` for a gap, or `Next`.'),
    active: z.boolean(),
  })
  .meta({ id: 'PageLink' })

const pageLinks = z
  .object({
    first: z.string(),
    last: z.string(),
    prev: z.string().nullable(),
    next: z.string().nullable(),
  })
  .meta({ id: 'PageLinks' })

const pageMeta = z
  .object({
    current_page: z.int(),
    from: z.int().nullable().describe('Position of the first item; null on an empty page.'),
    to: z.int().nullable().describe('Position of the last item; null on an empty page.'),
    last_page: z.int(),
    per_page: z.int(),
    total: z.int(),
    path: z.string(),
    links: z
      .array(pageLink)
      .describe(
        'One label per page up to 200 pages; for longer lists, the pages around the current one and at both ends. With a cursor, only the current page.',
      ),
    next_cursor: z
      .string()
      .nullable()
      .optional()
      .describe(
        'The cursor of the next page, null at the end. Lists of links and domains have it only in responses to a request with `cursor`. In a walk with cursors, `total` and the numbers of pages and items are those at the time of the first request.',
      ),
  })
  .meta({ id: 'PageMeta' })

/** The envelope of every list. */
export function pageOf<T extends z.ZodType>(item: T, id: string) {
  return z.object({ data: z.array(item), links: pageLinks, meta: pageMeta }).meta({ id })
}

/** The envelope of a list that is read with cursors alone, because counting its items takes too long. */
export function uncountedPageOf<T extends z.ZodType>(item: T, id: string) {
  const unknown = 'Null: this list is not counted.'
  const links = pageLinks
    .extend({ last: z.string().nullable().describe(unknown) })
    .meta({ id: `${id}Links` })
  const meta = pageMeta
    .extend({
      last_page: z.int().nullable().describe(unknown),
      total: z.int().nullable().describe(unknown),
      next_cursor: z.string().nullable().describe('The cursor of the next page; null at the end.'),
    })
    .meta({ id: `${id}Meta` })
  return z.object({ data: z.array(item), links, meta }).meta({ id })
}

/** The envelope of a list whose items have numbers of clicks. */
export function clickedPageOf<T extends z.ZodType>(item: T, id: string) {
  const counted_until = timestamp
    .optional()
    .describe(
      'Only while counting is behind: all clicks before this instant are counted, and later ones may be missing.',
    )
  const meta = pageMeta.extend({ counted_until }).meta({ id: `${id}Meta` })
  return z.object({ data: z.array(item), links: pageLinks, meta }).meta({ id })
}

export type PageLink = z.output<typeof pageLink>
export type PageLinks = z.output<typeof pageLinks>
export type PageMeta = z.output<typeof pageMeta>

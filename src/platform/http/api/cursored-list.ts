import type { FastifyRequest } from 'fastify'
import { type Envelope, envelope, offsetOf, pageRequestOf } from './pagination.ts'
import { nameOfWalk, type WalkContext, type WalkedList, type WalkRequest, walk } from './walk.ts'

/** A list that can be read by page number too. */
export type CursoredList<T, M> = WalkedList<T, M> & {
  page(offset: number, limit: number): Promise<readonly T[]>
}

/** What the order of a list compares: first items first. */
type Order = readonly (string | number)[]

type Answer<T, R> = {
  /** The workspace or person whose list it is: its cursors are valid for no other. */
  readonly owner: string
  readonly present: (item: T) => R
}

/**
 * Returns the page of a list that a page number or a cursor selects, in the envelope of every list. A page by number
 * has `next_cursor` beside, which leads on from its last item.
 */
export async function cursoredList<T, M, R>(
  request: FastifyRequest,
  context: WalkContext,
  query: WalkRequest,
  { owner, present, list }: Answer<T, R> & { readonly list: CursoredList<T, M> },
): Promise<Envelope<R>> {
  if (query.cursor !== undefined) {
    const presentAll = (items: readonly T[]) => items.map(present)
    return walk(request, context, query, { owner, filters: {}, present: presentAll, list })
  }
  const asked = pageRequestOf(query)
  const offset = offsetOf(asked)
  const total = await list.count()
  const items = await list.page(offset, asked.perPage)
  const page = envelope(request, context.baseUrl, asked, { items: items.map(present), total })
  const last = items.at(-1)
  const index = offset + items.length
  const rest = { mark: last && list.markOf(last), isReversed: false, index, total }
  const name = nameOfWalk(request, { owner, filters: {} })
  const next_cursor = last && index < total ? context.cursors.write(rest, name) : null
  return { ...page, meta: { ...page.meta, next_cursor } }
}

/**
 * The same for a list that was read as a whole.
 *
 * @param on.orderOf tells items apart, so that a cursor keeps its place when items come and go
 */
export function wholeList<T, R>(
  request: FastifyRequest,
  context: WalkContext,
  query: WalkRequest,
  on: Answer<T, R> & { readonly items: readonly T[]; readonly orderOf: (item: T) => Order },
): Promise<Envelope<R>> {
  const { orderOf } = on
  const items = on.items.toSorted((a, b) => compare(orderOf(a), orderOf(b)))
  const list: CursoredList<T, Order> = {
    count: async () => items.length,
    page: async (offset, limit) => items.slice(offset, offset + limit),
    async read({ beyond, isReversed, limit }) {
      const ordered = isReversed ? items.toReversed() : items
      const side = isReversed ? -1 : 1
      const left = ordered.filter(
        (item) => beyond === undefined || compare(orderOf(item), beyond) * side > 0,
      )
      const read = left.slice(0, limit)
      const last = left.length > limit ? read.at(-1) : undefined
      return { items: read, rest: last && orderOf(last) }
    },
    markOf: orderOf,
  }
  return cursoredList(request, context, query, { ...on, list })
}

function compare(a: Order, b: Order): number {
  for (const [nth, value] of a.entries()) {
    const other = b[nth] ?? value
    if (value !== other) return value < other ? -1 : 1
  }
  return 0
}

import { type PageLinks, type PageMeta, PER_PAGE_DEFAULT } from '@terse/contract/pagination'
import type { FastifyRequest } from 'fastify'
import { Failure } from '../../failure.ts'
import type { Cursors, WalkPosition } from './cursor.ts'
import type { Run } from './pagination.ts'
import { addressesOf, type Envelope, envelope, offsetOf, pageRequestOf } from './pagination.ts'

/** A list that can be read with cursors. `M` marks a position in its order. */
type WalkedList<T, M> = {
  count(): Promise<number>
  /** @param run.isReversed whether to read towards the beginning of the list, nearest item first */
  read(run: {
    readonly beyond: M | undefined
    readonly isReversed: boolean
    readonly limit: number
  }): Promise<Run<T, M>>
  markOf(item: T): M
}

type WalkRequest = {
  readonly cursor?: string | undefined
  readonly page?: number | undefined
  readonly per_page?: number | undefined
}

export type WalkContext = {
  /** The origin of the URLs in answers. */
  readonly baseUrl: string
  readonly cursors: Cursors
}

/**
 * Returns the page that a cursor selects, in the envelope of every list. The page is read from a position
 * in the list's order, not by page number, so that concurrent creates and deletes shift no item.
 *
 * @param on.owner the workspace or person whose list it is
 * @param on.filters everything besides the owner that decides the list's items and their order
 */
export async function walk<T, M, R>(
  request: FastifyRequest,
  { baseUrl, cursors }: WalkContext,
  query: WalkRequest,
  on: {
    readonly owner: string
    readonly list: WalkedList<T, M>
    readonly filters: unknown
    /** Returns one for each item, in their order. */
    readonly present: (items: readonly T[]) => R[] | Promise<R[]>
  },
): Promise<Envelope<R>> {
  if (query.page !== undefined) {
    throw Failure.invalid({ page: [{ code: 'incompatible', reason: 'never', other: 'cursor' }] })
  }
  const { cursor = '' } = query
  const limit = query.per_page ?? PER_PAGE_DEFAULT
  const name = nameOfWalk(request, on)
  const from: WalkPosition<M> =
    cursor === ''
      ? { mark: undefined, isReversed: false, index: 0, total: await on.list.count() }
      : cursors.read(cursor, name)
  const run = await on.list.read({ beyond: from.mark, isReversed: from.isReversed, limit })
  const { items, first, before, after } = pageOf(from, run, on.list.markOf)

  const { path, urlOf } = addressesOf(request, baseUrl, 'cursor')
  const cursorAt = (position: WalkPosition<M> | undefined) =>
    position === undefined ? null : cursors.write(position, name)
  const addressAt = (cursor: string | null) => (cursor === null ? null : urlOf(cursor))
  const nextCursor = cursorAt(after)
  const next = addressAt(nextCursor)
  const prev = addressAt(cursorAt(before))
  const end: WalkPosition<M> = { ...from, mark: undefined, isReversed: true, index: from.total }

  const to = first + items.length
  const total = Math.max(from.total, to)
  const page = Math.floor(first / limit) + 1
  return {
    data: await on.present(items),
    links: { first: urlOf(''), last: urlOf(cursors.write(end, name)), prev, next },
    meta: {
      current_page: page,
      from: items.length === 0 ? null : first + 1,
      to: items.length === 0 ? null : to,
      last_page: Math.max(page, Math.ceil(total / limit)),
      per_page: limit,
      total,
      path,
      links: [
        { url: prev, label: 'Previous', active: false },
        { url: urlOf(cursor), label: String(page), active: true },
        { url: next, label: 'Next', active: false },
      ],
      next_cursor: nextCursor,
    },
  }
}

/** Names the list of a walk: its cursors are valid for no other. */
function nameOfWalk(
  request: FastifyRequest,
  { owner, filters }: { readonly owner: string; readonly filters: unknown },
): string {
  return JSON.stringify([request.routeOptions.url, owner, filters])
}

/** The items in the list's order, how many lie before them, and the positions of the pages beside them. */
function pageOf<T, M>(from: WalkPosition<M>, run: Run<T, M>, markOf: (item: T) => M) {
  const items = from.isReversed ? run.items.toReversed() : run.items
  const first = from.isReversed ? Math.max(0, from.index - items.length) : from.index
  const at = (mark: M | undefined, isReversed: boolean, index: number) =>
    mark === undefined ? undefined : { mark, isReversed, index, total: from.total }
  const [head, tail] = [items.at(0), items.at(-1)]
  const headMark = head && from.mark !== undefined ? markOf(head) : undefined
  const tailMark = tail && from.mark !== undefined ? markOf(tail) : undefined
  return {
    items,
    first,
    before: at(from.isReversed ? run.rest : headMark, true, first),
    after: at(from.isReversed ? tailMark : run.rest, false, first + items.length),
  }
}

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

type UncountedList<T, M> = {
  readonly context: WalkContext
  /** What a cursor belongs to, besides the route. */
  readonly owner: unknown
  readonly read: (run: {
    readonly limit: number
    readonly beyond: M | undefined
  }) => Promise<Run<T, M>>
}

type Uncounted<T> = {
  readonly data: readonly T[]
  readonly links: Omit<PageLinks, 'last'> & { last: null }
  readonly meta: Omit<PageMeta, 'last_page' | 'total' | 'next_cursor'> & {
    last_page: null
    total: null
    next_cursor: string | null
  }
}

/** Returns a page from the position of a cursor, or the first one, of a list that is not counted. */
export async function uncountedPage<T, M>(
  request: FastifyRequest,
  { cursor = '', per_page: limit = PER_PAGE_DEFAULT }: Pick<WalkRequest, 'cursor' | 'per_page'>,
  { context: { baseUrl, cursors }, owner, read }: UncountedList<T, M>,
): Promise<Uncounted<T>> {
  const name = JSON.stringify([request.routeOptions.url, owner])
  const from = cursor === '' ? undefined : cursors.read<M>(cursor, name)
  const { index = 0, mark: beyond } = from ?? {}
  const { items, rest } = await read({ limit, beyond })
  const { path, urlOf } = addressesOf(request, baseUrl, 'cursor')
  const to = index + items.length
  const position = { mark: rest, isReversed: false, index: to, total: 0 }
  const nextCursor = rest === undefined ? null : cursors.write(position, name)
  const next = nextCursor === null ? null : urlOf(nextCursor)
  const page = Math.floor(index / limit) + 1
  return {
    data: items,
    links: { first: urlOf(''), last: null, prev: null, next },
    meta: {
      current_page: page,
      from: items.length === 0 ? null : index + 1,
      to: items.length === 0 ? null : to,
      last_page: null,
      per_page: limit,
      total: null,
      path,
      links: [
        { url: null, label: 'Previous', active: false },
        { url: urlOf(cursor), label: String(page), active: true },
        { url: next, label: 'Next', active: false },
      ],
      next_cursor: nextCursor,
    },
  }
}

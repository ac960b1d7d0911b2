import {
  type PageLink,
  type PageLinks,
  type PageMeta,
  PER_PAGE_DEFAULT,
} from '@terse/contract/pagination'
import type { FastifyRequest } from 'fastify'

/** Up to this many pages, every page has a label. */
const LABELS_MAX = 200
/** Beyond that: labels for this many pages at each end, and on each side of the current page. */
const ENDS = 2
const AROUND = 3

export type PageRequest = { readonly page: number; readonly perPage: number }

export type Envelope<T> = { data: T[]; links: PageLinks; meta: PageMeta }

/** One page of a list, and the length of the whole list. */
export type Page<T> = { readonly items: readonly T[]; readonly total: number }

/**
 * Consecutive items of a list. `M` is a position in the list's order; it stays valid when the item
 * there is deleted.
 */
export type Run<T, M> = {
  readonly items: readonly T[]
  /** The position after which the list continues; undefined at the end of the list. */
  readonly rest: M | undefined
}

export function pageRequestOf(query: {
  page?: number | undefined
  per_page?: number | undefined
}): PageRequest {
  return { page: query.page ?? 1, perPage: query.per_page ?? PER_PAGE_DEFAULT }
}

/** The offset of a page's first item, bounded because a client may request any page number. */
export function offsetOf({ page, perPage }: PageRequest): number {
  return Math.min((page - 1) * perPage, Number.MAX_SAFE_INTEGER)
}

/** Formats a page as the envelope of every list; its URLs keep the request's other parameters. */
export function envelope<T>(
  request: FastifyRequest,
  baseUrl: string,
  { page, perPage }: PageRequest,
  { items, total }: Page<T>,
): Envelope<T> {
  const { path, urlOf } = addressesOf(request, baseUrl, 'page')
  const last = Math.max(1, Math.ceil(total / perPage))
  const prev = page > 1 ? urlOf(Math.min(page - 1, last)) : null
  const next = page < last ? urlOf(page + 1) : null
  const first = items.length === 0 ? null : (page - 1) * perPage + 1
  return {
    data: [...items],
    links: { first: urlOf(1), last: urlOf(last), prev, next },
    meta: {
      current_page: page,
      from: first,
      to: first === null ? null : first + items.length - 1,
      last_page: last,
      per_page: perPage,
      total,
      path,
      links: [
        { url: prev, label: 'Previous', active: false },
        ...labels(page, last).map(
          (label): PageLink =>
            label === null
              ? { url: null, label: '...', active: false }
              : { url: urlOf(label), label: String(label), active: label === page },
        ),
        { url: next, label: 'Next', active: false },
      ],
    },
  }
}

/**
 * Builds the URLs of a list's pages, which keep the request's other parameters.
 *
 * @param parameter the query parameter that selects the page
 */
export function addressesOf(
  request: FastifyRequest,
  baseUrl: string,
  parameter: string,
): { readonly path: string; urlOf(value: string | number): string } {
  const { pathname, searchParams: kept } = new URL(request.url, baseUrl)
  const path = baseUrl + pathname
  kept.delete(parameter)
  const prefix = kept.size === 0 ? '' : `${kept}&`
  return { path, urlOf: (value) => `${path}?${prefix}${parameter}=${value}` }
}

/** The page numbers to show, in order; null for a gap. */
function labels(page: number, last: number): (number | null)[] {
  const numbers: number[] = []
  for (let number = 1; number <= last; number += 1) {
    const atEnd = number <= ENDS || number > last - ENDS
    if (last <= LABELS_MAX || atEnd || Math.abs(number - page) <= AROUND) numbers.push(number)
    else if (number < page - AROUND) number = Math.min(page - AROUND, last - ENDS + 1) - 1
    else number = last - ENDS
  }
  return numbers.flatMap((number, index) =>
    index > 0 && number !== (numbers[index - 1] ?? 0) + 1 ? [null, number] : [number],
  )
}

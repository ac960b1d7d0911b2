import type { IncludingDomain } from '@terse/contract/domains'
import type { CallApi, Query } from '../identity/index.ts'

/** As many items as a page of the API has. */
const PER_PAGE_MAX = 100

type Page<T> = { readonly data: readonly T[]; readonly meta: { readonly total: number } }

/** A part of a list: up to `limit` items from a position on, the first of which is 0. */
export type Span = { readonly start: number; readonly limit: number }

/**
 * Reads a part of a list of the API. It may be longer than a page, and begin in the middle of one.
 *
 * @param span its limit is at least 1
 */
export async function readSpan<T>(
  call: CallApi,
  path: string,
  query: Query,
  { start, limit }: Span,
): Promise<{ readonly items: readonly T[]; readonly total: number }> {
  const size = Math.min(limit, PER_PAGE_MAX)
  const items: T[] = []
  let total = 0
  for (let number = Math.floor(start / size); number * size < start + limit; number += 1) {
    const found = await call.get<Page<T>>(path, { ...query, per_page: size, page: number + 1 })
    items.push(...found.data)
    total = found.meta.total
    if ((number + 1) * size >= total) break
  }
  const skipped = start % size
  return { items: items.slice(skipped, skipped + limit), total }
}

/** Returns all domains of the workspace. */
export async function listDomains(call: CallApi): Promise<readonly IncludingDomain[]> {
  const all = { start: 0, limit: Number.MAX_SAFE_INTEGER }
  return (await readSpan<IncludingDomain>(call, '/domains', {}, all)).items
}

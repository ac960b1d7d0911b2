import type { PageMeta } from '@terse/contract/pagination'
import { request } from './request.ts'

const PER_PAGE = 100

export type ListPage<T> = { readonly data: readonly T[]; readonly meta: PageMeta }

/**
 * Reads a list page by page, each item once, even if others come and go meanwhile.
 *
 * @param options.max more are left out
 */
export async function requestAll<T>(
  path: string,
  { signal, max = Number.POSITIVE_INFINITY }: { signal: AbortSignal; max?: number },
): Promise<readonly T[]> {
  const items: T[] = []
  let cursor: string | null = ''
  while (cursor !== null && items.length < max) {
    const query = { per_page: PER_PAGE, cursor }
    const page: ListPage<T> = await request('GET', path, { query, signal })
    items.push(...page.data)
    cursor = page.meta.next_cursor ?? null
  }
  return items
}

import type { BulkLinksAnswer, BulkResult } from '@terse/contract/bulk-links'
import { randomId } from '../state/random-id.ts'
import type { LinkFields } from './links.ts'
import { request } from './request.ts'

export type { BulkResult }

const ITEMS_MAX = 1_000

type Changes = LinkFields & {
  readonly add_tags?: readonly string[]
  readonly remove_tags?: readonly string[]
}

export function deleteLinks(ids: readonly string[]): Promise<readonly BulkResult[]> {
  return inBulk(ids, { action: 'delete' })
}

export function changeLinks(
  ids: readonly string[],
  changes: Changes,
): Promise<readonly BulkResult[]> {
  return inBulk(ids, { action: 'update', changes })
}

/**
 * Sends as many requests as the links need, one after the other.
 *
 * @returns what became of each link, in their order
 */
async function inBulk(
  ids: readonly string[],
  body: { readonly action: 'update' | 'delete'; readonly changes?: Changes },
): Promise<readonly BulkResult[]> {
  const results: BulkResult[] = []
  for (let from = 0; from < ids.length; from += ITEMS_MAX) {
    const part = ids.slice(from, from + ITEMS_MAX)
    const headers = { 'Idempotency-Key': randomId() }
    let answer: BulkLinksAnswer
    do {
      // The same request with the same key goes on where the last one ended.
      answer = await request('POST', '/links/bulk', {
        body: { ...body, ids: part },
        headers,
        // 1,000 identifiers are less than the 64 KiB that a page may send while it is left.
        keepalive: true,
      })
    } while (!answer.done)
    results.push(...answer.results)
  }
  return results
}

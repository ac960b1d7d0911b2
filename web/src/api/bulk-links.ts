import type { BulkResult } from '@terse/contract/bulk-links'
import { randomId } from '../state/random-id.ts'
import { ApiError } from './api-error.ts'
import { type BulkOutcome, type BulkSender, sendBulk } from './bulk-parts.ts'
import type { LinkFields } from './links.ts'
import { request } from './request.ts'

export type { BulkOutcome, BulkResult }

const RETRY_MS = 500
/** What a page may send while it is left is 64 KiB in all. */
const KEEPALIVE_CHARS_MAX = 48 * 1_024

export type BulkChanges = LinkFields & {
  readonly add_tags?: readonly string[]
  readonly remove_tags?: readonly string[]
}

/** What a bulk act does to every link. */
export type BulkAct =
  | { readonly action: 'delete' }
  | { readonly action: 'update'; readonly changes: BulkChanges }

/** What changes of one link. */
export type LinkUpdate = BulkChanges & { readonly id: string }

export type BulkWatch = Pick<BulkSender<unknown>, 'onDone' | 'isStopped'>

/** Does the same to every link, 1,000 in a request. */
export function actOnLinks(
  ids: readonly string[],
  act: BulkAct,
  watch: BulkWatch,
): Promise<BulkOutcome> {
  return send(ids, (part) => ({ ...act, ids: part }), watch)
}

/** Changes each link as it says, 1,000 in a request. */
export function updateLinks(links: readonly LinkUpdate[], watch: BulkWatch): Promise<BulkOutcome> {
  return send(links, (part) => ({ action: 'update', links: part }), watch)
}

function send<T>(
  items: readonly T[],
  bodyOf: (part: readonly T[]) => object,
  watch: BulkWatch,
): Promise<BulkOutcome> {
  const keys = new Map<number, string>()
  return sendBulk(items, {
    ...watch,
    send(part, nth) {
      const key = keys.get(nth) ?? randomId()
      keys.set(nth, key)
      const body = bodyOf(part)
      return request('POST', '/links/bulk', {
        body,
        headers: { 'Idempotency-Key': key },
        keepalive: JSON.stringify(body).length <= KEEPALIVE_CHARS_MAX,
      })
    },
    isTemporary: (error) =>
      error instanceof ApiError && (error.isTemporary || error.status === 429),
    wait(error, attempt) {
      const seconds = error instanceof ApiError ? error.retryAfterSeconds : undefined
      const ms = seconds === undefined ? RETRY_MS * 2 ** attempt : seconds * 1_000
      return new Promise((resolve) => setTimeout(resolve, ms))
    },
  })
}

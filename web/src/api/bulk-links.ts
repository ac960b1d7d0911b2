import type { BulkResult } from '@terse/contract/bulk-links'
import { randomId } from '../state/random-id.ts'
import { ApiError } from './api-error.ts'
import { type BulkOutcome, type BulkSender, sendBulk } from './bulk-parts.ts'
import type { LinkFields } from './links.ts'
import { request } from './request.ts'

export type { BulkOutcome, BulkResult }

const RETRY_MS = 500

/** What a bulk act does to every link. */
export type BulkAct =
  | { readonly action: 'delete' }
  | {
      readonly action: 'update'
      readonly changes: LinkFields & {
        readonly add_tags?: readonly string[]
        readonly remove_tags?: readonly string[]
      }
    }

/** Does the same to every link, 1,000 in a request. */
export function actOnLinks(
  ids: readonly string[],
  act: BulkAct,
  watch: Pick<BulkSender, 'onDone' | 'isStopped'>,
): Promise<BulkOutcome> {
  const keys = new Map<number, string>()
  return sendBulk(ids, {
    ...watch,
    send(part, nth) {
      const key = keys.get(nth) ?? randomId()
      keys.set(nth, key)
      return request('POST', '/links/bulk', {
        body: { ...act, ids: part },
        headers: { 'Idempotency-Key': key },
        // 1,000 identifiers are less than the 64 KiB that a page may send while it is left.
        keepalive: true,
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

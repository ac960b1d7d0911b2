import type { BulkLinksAnswer, BulkResult } from '@terse/contract/bulk-links'
import { randomId } from '../state/random-id.ts'
import { ApiError } from './api-error.ts'
import type { LinkFields } from './links.ts'
import { request } from './request.ts'

export type { BulkResult }

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
type LinkUpdate = BulkChanges & { readonly id: string }

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

/** What one request may name. */
export const BULK_ITEMS_MAX = 1_000
const ATTEMPTS_MAX = 6

export type BulkSender<T> = {
  /** Sends one part. The same key goes on where the last request with it ended. */
  readonly send: (items: readonly T[], part: number) => Promise<BulkLinksAnswer>
  readonly isTemporary: (error: unknown) => boolean
  /** Resolves when a part may be sent again. */
  readonly wait: (error: unknown, attempt: number) => Promise<void>
  /** Called with the number of links that are done. */
  readonly onDone: (count: number) => void
  /** Whether to end before the next part. */
  readonly isStopped: () => boolean
}

export type BulkOutcome = {
  /** What became of the links that were attempted, in their order. */
  readonly results: readonly BulkResult[]
  /** Why the others were not attempted; undefined if all were, or if it was stopped. */
  readonly error?: unknown
}

/** Sends as many requests as the links need, one after the other. A part that fails for a time is sent again. */
export async function sendBulk<T>(
  items: readonly T[],
  sender: BulkSender<T>,
): Promise<BulkOutcome> {
  const results: BulkResult[] = []
  for (let from = 0; from < items.length && !sender.isStopped(); from += BULK_ITEMS_MAX) {
    const part = items.slice(from, from + BULK_ITEMS_MAX)
    try {
      results.push(...(await sendPart(part, from / BULK_ITEMS_MAX, sender)))
    } catch (error) {
      return { results, error }
    }
    sender.onDone(results.length)
  }
  return { results }
}

async function sendPart<T>(
  items: readonly T[],
  part: number,
  { send, isTemporary, wait }: BulkSender<T>,
): Promise<readonly BulkResult[]> {
  for (let attempt = 1; ; ) {
    try {
      const answer = await send(items, part)
      if (answer.done) return answer.results
      attempt = 1
    } catch (error) {
      if (!isTemporary(error) || attempt >= ATTEMPTS_MAX) throw error
      await wait(error, attempt)
      attempt += 1
    }
  }
}

/** What gives changed links back the values that they had; links that did not change are left out. */
export function undoOf(changes: BulkChanges, results: readonly BulkResult[]): LinkUpdate[] {
  const updates: LinkUpdate[] = []
  for (const { id, before } of results) {
    if (id === null || before === null || Object.keys(before).length === 0) continue
    const { tags, ...values } = before
    const edits = Array.isArray(tags) ? tagsBack(changes, tags) : {}
    updates.push({ id, ...values, ...edits })
  }
  return updates
}

/** Only the tags that the change gave or took: others may have been edited since. */
function tagsBack(
  { add_tags: added = [], remove_tags: removed = [] }: BulkChanges,
  before: readonly string[],
): Pick<BulkChanges, 'add_tags' | 'remove_tags'> {
  return {
    add_tags: removed.filter((tag) => before.includes(tag) && !added.includes(tag)),
    remove_tags: added.filter((tag) => !before.includes(tag)),
  }
}

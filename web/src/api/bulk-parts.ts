import type { BulkLinksAnswer, BulkResult } from '@terse/contract/bulk-links'

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

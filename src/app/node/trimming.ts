import { IDEMPOTENCY_RETENTION_MICROS } from '../../platform/idempotency/once.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { FullStore } from '../database/stores.ts'
import type { Job } from './polling-job.ts'

/** How long a process may have been unable to read the change log without having to forget all. */
const CHANGE_RETENTION_MS = 24 * 60 * 60 * 1_000
const TRIM_INTERVAL_MS = 10 * 60 * 1_000

/** Forgets now and then what nobody asks for any more. */
export function startTrimming(
  { store, clock }: { readonly store: FullStore; readonly clock: Clock },
  onError: (error: unknown) => void,
): Job {
  const trimming = setInterval(() => {
    trim(store, clock).catch(onError)
  }, TRIM_INTERVAL_MS)
  trimming.unref()
  return { stop: async () => clearInterval(trimming) }
}

/** In steps between which others write. Any node may do it, several at once too. */
async function trim(store: FullStore, clock: Clock): Promise<void> {
  const now = clock.nowMicros()
  const changesEnd = now - CHANGE_RETENTION_MS * 1_000
  while (await store.write((stores) => stores.changes.trim(changesEnd)));
  const idempotencyEnd = now - IDEMPOTENCY_RETENTION_MICROS
  while (await store.write((stores) => stores.idempotency.trim(idempotencyEnd)));
  await store.write((stores) => stores.acmeBudgets.trim(now))
}

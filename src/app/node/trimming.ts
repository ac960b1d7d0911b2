import { removeCounted } from '../../clicks/spool/spool-reader.ts'
import { AGE_MICROS_MAX, IDLE_MICROS_MAX } from '../../identity/sign-in/session.ts'
import { trimImports } from '../../imports/end-import.ts'
import { IDEMPOTENCY_RETENTION_MICROS } from '../../platform/idempotency/idempotency.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { Config } from '../config/read-config.ts'
import type { FullStore } from '../database/stores.ts'
import type { Job } from './polling-job.ts'

/** How long a process may be unable to read the change log before it must drop all its caches. */
const CHANGE_RETENTION_MS = 24 * 60 * 60 * 1_000
const TRIM_INTERVAL_MS = 10 * 60 * 1_000
/** Another node's clock may be late: to it, a challenge has not expired yet. */
const CLOCK_DIFFERENCE_MICROS = 60 * 60 * 1_000_000
const DAY_MICROS = 24 * 60 * 60 * 1_000_000

/**
 * Deletes expired rows every 10 minutes: changes, counted clicks of imports, idempotency keys, ACME budgets, sessions,
 * one-time links, used challenges, events, and reports of imports.
 */
export function startTrimming(
  { eventRetentionDays }: Pick<Config, 'eventRetentionDays'>,
  { store, clock }: { readonly store: FullStore; readonly clock: Clock },
  onError: (error: unknown) => void,
): Job {
  const trimming = setInterval(() => {
    trim(store, clock, eventRetentionDays).catch(onError)
  }, TRIM_INTERVAL_MS)
  trimming.unref()
  return { stop: async () => clearInterval(trimming) }
}

/** Deletes in steps, so that other writers can go between. Several nodes may do it at once. */
async function trim(store: FullStore, clock: Clock, eventRetentionDays: number): Promise<void> {
  const now = clock.nowMicros()
  const changesEnd = now - CHANGE_RETENTION_MS * 1_000
  while (await store.write((stores) => stores.changes.trim(changesEnd)));
  await removeCounted(store)
  const idempotencyEnd = now - IDEMPOTENCY_RETENTION_MICROS
  while (await store.write((stores) => stores.idempotency.trim(idempotencyEnd)));
  await store.write((stores) => stores.acmeBudgets.trim(now))
  const ends = { createdBefore: now - AGE_MICROS_MAX, seenBefore: now - IDLE_MICROS_MAX }
  while (await store.write((stores) => stores.sessions.trim(ends)));
  while (await store.write((stores) => stores.oneTimeLinks.trim(now)));
  while (await store.write((stores) => stores.usedChallenges.trim(now - CLOCK_DIFFERENCE_MICROS)));
  await trimImports(store, now)
  if (eventRetentionDays === 0) return
  const eventsEnd = now - eventRetentionDays * DAY_MICROS
  while (await store.write((stores) => stores.events.trim(eventsEnd)));
}

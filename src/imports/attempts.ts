import type { Import } from './import.ts'

/** Attempts in a row: a file that crashes its process each time must not do so for ever. */
const ATTEMPTS_MAX = 5
const FIRST_WAIT_MICROS = 5_000_000
const WAIT_FACTOR = 4
/** An attempt that lasted so long has not failed by what the ones before it failed by. */
const STEADY_MICROS = 10 * 60 * 1_000_000

/**
 * Returns what a lease writes before the process starts, so that it counts even if the whole node goes down with the
 * process: this attempt, and when the next one may begin. Undefined when there were enough.
 */
export function nextAttempt(
  { attempts, leased_at: leasedAt, lease_until: leaseUntil }: Import,
  nowMicros: number,
): Pick<Import, 'attempts' | 'next_at' | 'leased_at'> | undefined {
  const lastedMicros = leasedAt === null || leaseUntil === null ? 0 : leaseUntil - leasedAt
  const before = lastedMicros > STEADY_MICROS ? 0 : attempts
  if (before >= ATTEMPTS_MAX) return undefined
  const wait = FIRST_WAIT_MICROS * WAIT_FACTOR ** before
  return { attempts: before + 1, next_at: nowMicros + wait, leased_at: nowMicros }
}

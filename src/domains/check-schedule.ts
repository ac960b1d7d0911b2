import type { Verdict } from './dns-judgement.ts'
import type { DomainStatus } from './domain.ts'

const MINUTE_MICROS = 60_000_000
const HOUR_MICROS = 60 * MINUTE_MICROS

/** The maximum interval between two checks of a pending domain. */
const PENDING_WAIT_MICROS_MAX = 4 * HOUR_MICROS
/** How long a pending domain is checked automatically. */
const PENDING_MICROS_MAX = 7 * 24 * HOUR_MICROS
const ACTIVE_WAIT_MICROS = 6 * HOUR_MICROS
/** How long the proof of an active domain may be missing before the domain becomes pending. */
const MISSING_MICROS_MAX = 7 * 24 * HOUR_MICROS

/** The check schedule of a domain. All times are microseconds since the epoch. */
export type CheckSchedule = {
  /** When the checks under the current status began. */
  readonly since: number
  /** The number of checks since then. */
  readonly attempts: number
  /** When the next check is due; null when only a request starts one. */
  readonly next_at: number | null
  /** When the proof of an active domain was first missing; null while it is present. */
  readonly missing_since: number | null
}

/** Returns from when on a check makes an active domain pending whose proof is still missing. */
export function pendingFrom(missingSince: number): number {
  return missingSince + MISSING_MICROS_MAX
}

/** Returns the schedule of a new or renamed domain, which is due at once. */
export function newSchedule(now: number): CheckSchedule {
  return { since: now, attempts: 0, next_at: now, missing_since: null }
}

/** The consequences of a check. */
export type CheckOutcome = {
  readonly change: 'none' | 'activate' | 'deactivate'
  readonly schedule: CheckSchedule
}

/**
 * Decides the change of status and the next check.
 *
 * @param verdict `unproved` also for a proved claim whose host is active in another workspace
 */
export function decideCheck(
  status: DomainStatus,
  schedule: CheckSchedule,
  verdict: Verdict,
  now: number,
): CheckOutcome {
  if (status === 'pending') {
    return verdict === 'proved'
      ? { change: 'activate', schedule: activeSchedule(now) }
      : { change: 'none', schedule: laterPending(schedule, now) }
  }
  if (verdict === 'proved') return { change: 'none', schedule: activeSchedule(now) }
  const next = { ...schedule, attempts: schedule.attempts + 1, next_at: now + ACTIVE_WAIT_MICROS }
  if (verdict === 'unknown') return { change: 'none', schedule: next }
  const missingSince = Math.min(schedule.missing_since ?? now, now)
  if (now >= pendingFrom(missingSince)) {
    return { change: 'deactivate', schedule: demotedSchedule(now) }
  }
  return { change: 'none', schedule: { ...next, missing_since: missingSince } }
}

/**
 * Returns the schedule of a domain that was active until this check. It is not due at once: while DNS
 * servers give contradicting answers, two claims on a host would replace each other endlessly.
 */
export function demotedSchedule(now: number): CheckSchedule {
  return laterPending(newSchedule(now), now)
}

function activeSchedule(now: number): CheckSchedule {
  return { since: now, attempts: 1, next_at: now + ACTIVE_WAIT_MICROS, missing_since: null }
}

/** The intervals are 1, 2, 4 … minutes, at most four hours, and end after seven days. */
function laterPending(schedule: CheckSchedule, now: number): CheckSchedule {
  const wait = Math.min(
    PENDING_WAIT_MICROS_MAX,
    MINUTE_MICROS * 2 ** Math.min(schedule.attempts, 30),
  )
  const next = now + wait
  return {
    // A clock that is set back must not prolong the schedule.
    since: Math.min(schedule.since, now),
    attempts: schedule.attempts + 1,
    next_at: next - schedule.since <= PENDING_MICROS_MAX ? next : null,
    missing_since: null,
  }
}

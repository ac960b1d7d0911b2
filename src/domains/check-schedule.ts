import type { Verdict } from './dns-judgement.ts'
import type { DomainStatus } from './domain.ts'

const MINUTE_MICROS = 60_000_000
const HOUR_MICROS = 60 * MINUTE_MICROS

/** The longest wait between two checks of a pending domain. */
const PENDING_WAIT_MICROS_MAX = 4 * HOUR_MICROS
/** How long a pending domain is checked without being asked to. */
const PENDING_MICROS_MAX = 7 * 24 * HOUR_MICROS
const ACTIVE_WAIT_MICROS = 6 * HOUR_MICROS
/** How long a proof may be missing before an active domain is pending again. */
const MISSING_MICROS_MAX = 7 * 24 * HOUR_MICROS

/** When a domain is checked. All times are microseconds since the epoch. */
export type CheckSchedule = {
  /** When the checks of the present status began. */
  readonly since: number
  /** Checks since then. */
  readonly attempts: number
  /** When the next check is due; null when it waits until somebody asks. */
  readonly next_at: number | null
  /** When an active domain's proof was first seen missing; null while it is there. */
  readonly missing_since: number | null
}

/** The schedule of a claim that begins, or begins anew: due at once. */
export function newSchedule(now: number): CheckSchedule {
  return { since: now, attempts: 0, next_at: now, missing_since: null }
}

/** What a check leads to. */
export type CheckOutcome = {
  readonly change: 'none' | 'activate' | 'deactivate'
  readonly schedule: CheckSchedule
}

/**
 * What follows from a check.
 *
 * @param verdict `unproved` also for a proof that does not count, because another claim is active
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
  if (now - missingSince >= MISSING_MICROS_MAX) {
    return { change: 'deactivate', schedule: demotedSchedule(now) }
  }
  return { change: 'none', schedule: { ...next, missing_since: missingSince } }
}

/**
 * The schedule of a claim that is no more active, from its last check on. Not due at once: servers that
 * contradict one another would make two claims take turns without end.
 */
export function demotedSchedule(now: number): CheckSchedule {
  return laterPending(newSchedule(now), now)
}

function activeSchedule(now: number): CheckSchedule {
  return { since: now, attempts: 1, next_at: now + ACTIVE_WAIT_MICROS, missing_since: null }
}

/** After 1, 2, 4 … minutes, up to four hours, for seven days. */
function laterPending(schedule: CheckSchedule, now: number): CheckSchedule {
  const wait = Math.min(
    PENDING_WAIT_MICROS_MAX,
    MINUTE_MICROS * 2 ** Math.min(schedule.attempts, 30),
  )
  const next = now + wait
  return {
    // A clock that was set back must not keep a domain on the schedule for longer.
    since: Math.min(schedule.since, now),
    attempts: schedule.attempts + 1,
    next_at: next - schedule.since <= PENDING_MICROS_MAX ? next : null,
    missing_since: null,
  }
}

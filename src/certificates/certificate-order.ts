import type { ChallengeType } from './certificate-authority.ts'

/** Why a certificate is ordered; decides which budgets are charged. */
export type OrderPurpose =
  | 'first'
  /** Replaces a certificate that has ended, or that has a third of its life left. */
  | 'renewal'
  /** Replaces a certificate earlier, because the authority suggests it. */
  | 'advised'

/**
 * - `ready`: the host has a certificate or an ongoing order, or is the service's own host
 * - `new`: it has no certificate yet
 * - `failing`: it has no certificate, and its last order failed
 */
export type OrderQueue = 'ready' | 'new' | 'failing'

/** An order that has been started, with all that another process needs to continue it. */
export type OngoingOrder = {
  /** The directory of the authority. */
  readonly directory: string
  readonly purpose: OrderPurpose
  /** The private key of the new certificate, sealed by `KeyVault`. */
  readonly sealedKey: string
  /** The order's URL; null until the authority has confirmed the order. */
  readonly url: string | null
}

/** The challenge of an ongoing order that has been chosen for a host. */
export type ActiveChallenge = {
  readonly type: ChallengeType
  readonly token: string
  /** RFC 8555, section 8.1. */
  readonly keyAuthorization: string
}

/** The state of a host that has a certificate or should get one. */
export type CertificateOrder = {
  /** Lower-case, in A-label form. */
  readonly host: string
  /** The workspace in which the host is active; empty for the service's own host. */
  readonly workspaceId: string
  readonly queue: OrderQueue
  readonly ongoing: OngoingOrder | null
  readonly challenge: ActiveChallenge | null
  /** Failed attempts in a row. */
  readonly attempts: number
  /** When the host is due next. Microseconds since the epoch. */
  readonly nextAt: number
  /** Why the last attempt failed, or what the order waits for; null when there is no problem. */
  readonly failure: string | null
}

/** An order that only one node may work on until its lease ends. */
export type LeasedOrder = CertificateOrder & {
  /** Increases with every lease. A write with an older fence is rejected. */
  readonly fence: number
}

/** Another node has leased the order, or its host no longer needs a certificate. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost'
}

const SECOND_MICROS = 1_000_000
const MINUTE_MICROS = 60 * SECOND_MICROS
const DAY_MICROS = 24 * 60 * MINUTE_MICROS

const FIRST_WAIT_MICROS = MINUTE_MICROS
const SECOND_WAIT_MICROS = 5 * MINUTE_MICROS
const PAUSE_MICROS = 5 * SECOND_MICROS
const PAUSE_MICROS_MAX = 15 * MINUTE_MICROS

/** Varies a wait by a fifth, so that hosts which failed together are not retried together. */
function jitter(micros: number, random: number): number {
  return Math.round(micros * (0.8 + 0.4 * random))
}

/**
 * Returns how long a host waits after `attempts` failures in a row: 1, 5, 10, 20 … minutes, a day at
 * most. Let's Encrypt blocks a name after 5 failures in an hour, but not one that fails once a day.
 *
 * @param random a number in [0, 1)
 */
export function orderWaitMicros(attempts: number, random: number): number {
  const wait =
    attempts <= 1
      ? FIRST_WAIT_MICROS
      : Math.min(DAY_MICROS, SECOND_WAIT_MICROS * 2 ** Math.min(attempts - 2, 30))
  return jitter(wait, random)
}

/**
 * Returns how long requests to an authority pause after `failures` in a row: 5 s at first, 15 min
 * at most.
 */
export function pauseMicros(failures: number, random: number): number {
  const wait = Math.min(PAUSE_MICROS_MAX, PAUSE_MICROS * 2 ** Math.min(failures - 1, 30))
  return jitter(wait, random)
}

/**
 * A rate limit as a token bucket: `burst` tokens, and one more every `refillMicros`. Its state is
 * one number, the instant at which the bucket is full again (GCRA).
 */
export type Budget = {
  readonly burst: number
  readonly refillMicros: number
  /** How much of the burst this caller may not use; default 0. */
  readonly reserved?: number
}

/**
 * Returns how long until the budget allows one more; 0 when it does now. Microseconds.
 *
 * @param spentUntil when the bucket is full again. A value beyond a whole bucket was written before the
 *   clock was set back; it is ignored here, and the next charge corrects it.
 */
export function waitMicros(budget: Budget, spentUntil: number, now: number): number {
  const { burst, refillMicros, reserved = 0 } = budget
  const spent = spentUntil - now
  if (spent > burst * refillMicros) return 0
  return Math.max(0, spent - (burst - reserved - 1) * refillMicros)
}

/** Returns how often the budget allows it now. */
export function countRemaining(budget: Budget, spentUntil: number, now: number): number {
  if (waitMicros(budget, spentUntil, now) > 0) return 0
  const { burst, refillMicros, reserved = 0 } = budget
  const spent = Math.max(0, spentUntil - now)
  return Math.max(1, Math.floor(burst - reserved - spent / refillMicros))
}

/** Formats the problem of a host whose order waits for a budget. */
export function formatBudgetWait({ message }: BudgetExhausted): string {
  return `waits: ${message}`
}

/**
 * A budget has nothing left. Thrown inside a transaction, so that earlier charges are rolled back.
 */
export class BudgetExhausted extends Error {
  override readonly name = 'BudgetExhausted'
  readonly waitMicros: number

  /** @param owner whose budget it is, in words: a host, "this workspace", "this service" */
  constructor(owner: string, waitMicros: number) {
    super(`too many certificates have been ordered for ${owner} lately`)
    this.waitMicros = waitMicros
  }
}

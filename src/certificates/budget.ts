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

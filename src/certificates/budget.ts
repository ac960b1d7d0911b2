/**
 * How often something may be done: `burst` times at once, and once more each `refillMicros`, as by a
 * bucket of tokens. What is spent is kept as one number, the instant at which it is full again (GCRA).
 */
export type Budget = {
  readonly burst: number
  readonly refillMicros: number
  /** Of the burst, what this spender leaves for others; 0 when left out. */
  readonly kept?: number
}

/**
 * How long until a budget may be spent once; 0 when it may be now. Microseconds.
 *
 * @param spentUntil when it is full again; further ahead than a whole budget, a clock that has been set
 *   back since has written it, and the next to spend corrects it
 */
export function waitMicros(budget: Budget, spentUntil: number, now: number): number {
  const { burst, refillMicros, kept = 0 } = budget
  const spent = spentUntil - now
  if (spent > burst * refillMicros) return 0
  return Math.max(0, spent - (burst - kept - 1) * refillMicros)
}

/** How often a budget may be spent now. */
export function timesLeft(budget: Budget, spentUntil: number, now: number): number {
  if (waitMicros(budget, spentUntil, now) > 0) return 0
  const { burst, refillMicros, kept = 0 } = budget
  const spent = Math.max(0, spentUntil - now)
  return Math.max(1, Math.floor(burst - kept - spent / refillMicros))
}

/** What is told of a host whose order waits for a budget. */
export function waitText({ message }: BudgetSpent): string {
  return `waits, because ${message}`
}

/** A budget that has nothing left. Thrown in a unit, so that it undoes what came before. */
export class BudgetSpent extends Error {
  override readonly name = 'BudgetSpent'
  /** Whose it is. */
  readonly owner: string
  readonly waitMicros: number

  constructor(owner: string, waitMicros: number) {
    super(`as many certificates have been ordered for ${owner} as it may have for now`)
    this.owner = owner
    this.waitMicros = waitMicros
  }
}

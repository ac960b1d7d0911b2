/**
 * How often something may be done: `burst` times at once, and once more each `refillMicros`, as by a
 * bucket of tokens. What is spent is kept as one number, the instant at which it is full again (GCRA).
 */
export type Budget = { readonly burst: number; readonly refillMicros: number }

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

/**
 * How often something may be done: `burst` times at once, and once more each `refillMicros`, as by a
 * bucket of tokens. It is kept as one number, the instant up to which it is spent (GCRA).
 */
export type Budget = { readonly burst: number; readonly refillMicros: number }

export type Spending =
  | { readonly kind: 'spent'; readonly spentUntil: number }
  | { readonly kind: 'short'; readonly waitMicros: number }

/** @param spentUntil undefined while nothing has been spent */
export function spend(
  { burst, refillMicros }: Budget,
  spentUntil: number | undefined,
  now: number,
): Spending {
  const fullMicros = burst * refillMicros
  // What lies further ahead than a whole bucket was written by a clock that has been set back since.
  const from = Math.min(Math.max(spentUntil ?? now, now), now + fullMicros)
  const waitMicros = from + refillMicros - fullMicros - now
  return waitMicros > 0
    ? { kind: 'short', waitMicros }
    : { kind: 'spent', spentUntil: from + refillMicros }
}

/** Gives back what was spent once. */
export function refund({ refillMicros }: Budget, spentUntil: number): number {
  return spentUntil - refillMicros
}

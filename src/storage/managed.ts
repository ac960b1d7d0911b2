import { formatInstant } from '../platform/time/clock.ts'

/** The mark of what a file of links as code describes. */
export type Managed = {
  /** The name of the set that manages it; null for none. */
  readonly managed_by: string | null
  /** When it was last written by a request that named the set, in microseconds since the epoch; null without a set. */
  readonly managed_at: number | null
}

type Times = { readonly updated_at: number; readonly managed_at: number | null }

/**
 * Returns the instants of a write. One that names the set gets the same instant in both, so that `updated_at` is later
 * exactly where something else has written since. Where it changes nothing, `updated_at` stays, and there is nothing to
 * log.
 *
 * @param before as the transaction has read it; undefined for what is new
 * @param write.managed_by the set after the write
 * @param write.isNamed whether the request has it
 * @param write.isChanged whether the write changes anything, the set included
 */
export function timesOfWrite(
  before: Times | undefined,
  write: {
    readonly managed_by: string | null
    readonly isNamed: boolean
    readonly isChanged: boolean
    readonly nowMicros: number
  },
): Times {
  const { managed_by, isNamed, isChanged, nowMicros } = write
  const next = before === undefined ? nowMicros : Math.max(nowMicros, before.updated_at + 1)
  const updated_at = before !== undefined && isNamed && !isChanged ? before.updated_at : next
  if (managed_by === null) return { updated_at, managed_at: null }
  const isMarked = isNamed || before === undefined
  return { updated_at, managed_at: isMarked ? updated_at : before.managed_at }
}

/** Returns the API's form of the instant. */
export function presentManagedAt({ managed_at }: Pick<Managed, 'managed_at'>): string | null {
  return managed_at === null ? null : formatInstant(managed_at)
}

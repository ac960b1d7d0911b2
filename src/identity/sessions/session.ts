/** A person's sign-in on one device. */
export type Session = {
  readonly id: string
  readonly person_id: string
  /** Browser and system, for the person to recognize it. */
  readonly device: string
  /** Microseconds since the epoch, as are all times here. */
  readonly created_at: number
  /** When the person last proved who they are. */
  readonly authenticated_at: number
  /** To the minute. */
  readonly last_seen_at: number
}

const HOUR_MICROS = 60 * 60 * 1_000_000
/** A session that is not used for this long ends. */
export const IDLE_MICROS_MAX = 7 * 24 * HOUR_MICROS
/** No session lasts longer, however often it is used. */
export const AGE_MICROS_MAX = 30 * 24 * HOUR_MICROS
/** For how long a person may do what needs a recent authentication. */
export const FRESH_MICROS = 10 * 60 * 1_000_000

/** When the session ends unless it is used before. */
export function expiryOf({ created_at, last_seen_at }: Session): number {
  return Math.min(created_at + AGE_MICROS_MAX, last_seen_at + IDLE_MICROS_MAX)
}

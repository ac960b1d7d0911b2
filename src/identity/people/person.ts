export type Person = {
  readonly id: string
  /** As it was given. */
  readonly email: string
  /** As `foldEmail`; unique. */
  readonly email_folded: string
  readonly name: string
  /** Whether the person operates the instance. */
  readonly is_operator: boolean
  /** Microseconds since the epoch, as are all times here. */
  readonly created_at: number
  readonly disabled_at: number | null
}

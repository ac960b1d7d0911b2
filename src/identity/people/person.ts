import type { NewEvent } from '../../platform/events/event-writer.ts'

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
  /**
   * When the person first showed that the address is theirs (address-proof.ts); null before: whoever invited the address
   * may have prepared the account for somebody else.
   */
  readonly email_proved_at: number | null
}

export function personCreated({ id, email, name, is_operator }: Person): NewEvent {
  const after = { email, name, is_operator }
  return { type: 'person.created', subjectId: id, before: null, after }
}

import { parse } from 'tldts'
import { Failure, type Parsed } from '../../platform/failure.ts'
import type { NewEvent } from '../../storage/event-log.ts'

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
   * When the person first showed that the address is theirs (addresses.ts); null before: the account may have
   * been prepared by another person, who invited the address.
   */
  readonly email_proved_at: number | null
}

export function personCreated({ id, email, name, is_operator }: Person): NewEvent {
  const after = { email, name, is_operator }
  return { type: 'person.created', subjectId: id, before: null, after }
}

/**
 * An address that mail can be sent to: one `@`, something before it and a host name behind it. Stricter
 * rules would refuse addresses that work.
 */
export function parseEmail(text: string): Parsed<string> {
  const trimmed = text.trim()
  return /^[^\s@<>,;]+@[^\s@<>,;.]+(?:\.[^\s@<>,;.]+)*$/.test(trimmed)
    ? { value: trimmed }
    : { fault: { code: 'invalid_email' } }
}

/** The form in which two addresses are compared: NFKC, lower case. */
export function foldEmail(email: string): string {
  return email.trim().normalize('NFKC').toLowerCase().normalize('NFKC')
}

const HOST_LIKE = /[\p{L}\p{M}\p{N}-]+(?:\.[\p{L}\p{M}\p{N}-]+)+/gu

/**
 * Whether programs that show mail would make a link of a part of the text: a URL, or a host under a domain that the
 * public suffix list has. "St.John" is none.
 */
export function holdsWebAddress(text: string): boolean {
  // Also in the forms of other scripts: full-width letters and signs, and the ideographic full stop.
  const plain = text.normalize('NFKC').replaceAll('\u3002', '.').toLowerCase()
  if (plain.includes('://') || /(?<![\p{L}\p{N}])www\./u.test(plain)) return true
  return (plain.match(HOST_LIKE) ?? []).some((host) => {
    const { isIcann, isIp } = parse(host)
    return isIcann === true || isIp === true
  })
}

/**
 * Refuses names that hold a web address: invitations are mailed with the name of who invites. The person's own e-mail
 * address is a name like others.
 *
 * @throws {Failure} `validation_failed`
 */
export function requirePersonName(name: string, email: string): string {
  if (!holdsWebAddress(name) || foldEmail(name) === foldEmail(email)) return name
  throw Failure.invalid({ name: [{ code: 'web_address' }] })
}

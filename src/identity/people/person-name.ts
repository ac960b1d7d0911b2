import { parse } from 'tldts'
import { Failure } from '../../platform/failure.ts'
import { foldEmail } from './email.ts'

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

import { createHash } from 'node:crypto'
import type { CertificateLife } from '../domains/index.ts'
import type { RenewalWindow } from './certificate.ts'

/** However late the authority advises to renew, this much of the life is left for attempts that fail. */
const LIFE_LEFT_MIN = 1 / 10
const LIFE_LEFT = 1 / 3
/** Of the life, by which hosts differ: a thousand that began together do not renew together. */
const SPREAD = 1 / 30

/** A certificate as far as its renewal depends on it. */
type Renewable = CertificateLife & {
  readonly host: string
  readonly ariId: string | null
  readonly renewalWindow: RenewalWindow | null
}

/** When a third of the life is left, a little before. Microseconds since the epoch. */
export function lifeRenewalTime(certificate: Renewable): number {
  const { notBefore, notAfter } = certificate
  const life = notAfter - notBefore
  return Math.round(notAfter - life * (LIFE_LEFT + SPREAD * unitOf(certificate)))
}

/**
 * When to renew: at a moment within the authority's window (RFC 9773, section 4.2), else when a third of
 * the life is left. The moment follows from the certificate, so it stays the same while the window does,
 * on every node. Microseconds since the epoch.
 */
export function renewalTime(certificate: Renewable): number {
  const { notBefore, notAfter, renewalWindow } = certificate
  if (renewalWindow === null) return lifeRenewalTime(certificate)
  const { start, end } = renewalWindow
  const advised = Math.round(start + Math.max(0, end - start) * unitOf(certificate))
  return Math.min(advised, Math.round(notAfter - (notAfter - notBefore) * LIFE_LEFT_MIN))
}

/** A number in [0, 1) that is the same each time. */
function unitOf({ host, ariId }: Renewable): number {
  const digest = createHash('sha256').update(`${host} ${ariId}`).digest()
  return digest.readUInt32BE() / 2 ** 32
}

import { createHash, generateKeyPair } from 'node:crypto'
import { promisify } from 'node:util'
import type { CertificateLife } from '../domains/index.ts'

/** The data of a certificate that the TLS listener and the renewal use. */
type CertificateFacts = CertificateLife & {
  /** Lower-case, in A-label form. */
  readonly host: string
  /** The host's certificate, then the intermediate ones. */
  readonly chainPem: string
  /** The directory URL of the authority that issued it (RFC 8555, section 7.1.1). */
  readonly directory: string
  /** The identifier for renewal information (RFC 9773, section 4.1); null when it has none. */
  readonly ariId: string | null
  /** When the authority suggests to renew it; null while that is unknown. */
  readonly renewalWindow: RenewalWindow | null
}

/** Microseconds since the epoch. */
export type RenewalWindow = { readonly start: number; readonly end: number }

/** The certificate of a host, with its private key. */
export type Certificate = CertificateFacts & { readonly keyPem: string }

/** A certificate as it is stored. */
export type SealedCertificate = CertificateFacts & {
  /** The private key, sealed by `KeyVault`. */
  readonly sealedKey: string
}

const generate = promisify(generateKeyPair)

/** Generates a P-256 key, which every authority accepts; returns it as PKCS #8 in PEM. */
export async function newKeyPem(): Promise<string> {
  const { privateKey } = await generate('ec', { namedCurve: 'P-256' })
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
}

/**
 * The part of a certificate's life that is left for retries, whatever window the authority
 * suggests.
 */
const LIFE_LEFT_MIN = 1 / 10
const LIFE_LEFT = 1 / 3
/** The part of the life over which hosts are spread that got their certificates together. */
const SPREAD = 1 / 30

/** The parts of a certificate that decide when it is renewed. */
type Renewable = CertificateLife & {
  readonly host: string
  readonly ariId: string | null
  readonly renewalWindow: RenewalWindow | null
}

/** Returns when a little more than a third of the life is left. Microseconds since the epoch. */
export function lifeRenewalTime(certificate: Renewable): number {
  const { notBefore, notAfter } = certificate
  const life = notAfter - notBefore
  return Math.round(notAfter - life * (LIFE_LEFT + SPREAD * fractionOf(certificate)))
}

/**
 * Returns when to renew: at an instant in the authority's window (RFC 9773, section 4.2), or as
 * `lifeRenewalTime` without one. The instant is derived from the certificate, so every node gets the same
 * for the same window. Microseconds since the epoch.
 */
export function renewalTime(certificate: Renewable): number {
  const { notBefore, notAfter, renewalWindow } = certificate
  if (renewalWindow === null) return lifeRenewalTime(certificate)
  const { start, end } = renewalWindow
  const suggested = Math.round(start + Math.max(0, end - start) * fractionOf(certificate))
  return Math.min(suggested, Math.round(notAfter - (notAfter - notBefore) * LIFE_LEFT_MIN))
}

/** Returns a number in [0, 1) that depends only on the certificate. */
function fractionOf({ host, ariId }: Renewable): number {
  const digest = createHash('sha256').update(`${host} ${ariId}`).digest()
  return digest.readUInt32BE() / 2 ** 32
}

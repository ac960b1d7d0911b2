import type { CertificateLife } from '../domains/index.ts'

/** What the listener for HTTPS shows, and what its renewal needs to know. */
type CertificateFacts = CertificateLife & {
  /** Lower-case, in A-label form. */
  readonly host: string
  /** The host's own certificate first, then those that lead to the authority. */
  readonly chainPem: string
  /** The address of the directory of the authority that issued it (RFC 8555, section 7.1.1). */
  readonly directory: string
  /** The name under which the authority gives its advice on renewal (RFC 9773); null where it gives none. */
  readonly ariId: string | null
  /** When the authority advises to renew it; null until it has said so. */
  readonly renewalWindow: RenewalWindow | null
}

/** Microseconds since the epoch. */
export type RenewalWindow = { readonly start: number; readonly end: number }

/** The certificate of a host, with its private key. */
export type Certificate = CertificateFacts & { readonly keyPem: string }

/** A certificate as it is stored. */
export type SealedCertificate = CertificateFacts & {
  /** The private key, as `KeyVault` has sealed it. */
  readonly sealedKey: string
}

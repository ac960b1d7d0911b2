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

import type { CertificateLife } from '../domains/index.ts'
import type { RenewalWindow, SealedCertificate } from './certificate.ts'

/** The certificates in use, at most one for each host. */
export type CertificateStore = {
  /** Called during TLS handshakes for hosts that are not cached, so it is one index lookup. */
  find(host: string): Promise<SealedCertificate | undefined>
  /** Reads only the validity period. */
  findLife(host: string): Promise<CertificateLife | undefined>
  /** Up to `limit` certificates after `after`, ordered by the end of their validity. */
  list(
    limit: number,
    after?: Pick<SealedCertificate, 'host' | 'notAfter'>,
  ): Promise<readonly SealedCertificate[]>
  /** How many end before an instant, in microseconds since the epoch. */
  countEndingBefore(atMicros: number): Promise<number>
  /** Inserts a certificate, or replaces the host's previous one. */
  save(certificate: SealedCertificate, atMicros: number): Promise<void>
  /** Saves when to renew; does nothing when the host has another certificate by now. */
  setRenewalWindow(host: string, ariId: string, window: RenewalWindow): Promise<void>
  /** False when the host had none. */
  remove(host: string): Promise<boolean>
}

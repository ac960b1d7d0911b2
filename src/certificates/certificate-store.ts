import type { CertificateLife } from '../domains/index.ts'
import type { RenewalWindow, SealedCertificate } from './certificate.ts'

/** The certificates in use, one at most for each host. */
export type CertificateStore = {
  /** Read at a handshake for a name that is not in memory, so it is one look-up in one index. */
  find(host: string): Promise<SealedCertificate | undefined>
  /** The same without certificate and key. */
  findLife(host: string): Promise<CertificateLife | undefined>
  /** Up to `limit`, those that end first coming first, from the one after `after` on. */
  list(
    limit: number,
    after?: Pick<SealedCertificate, 'host' | 'notAfter'>,
  ): Promise<readonly SealedCertificate[]>
  /** How many end before an instant, in microseconds. */
  countEndingBefore(atMicros: number): Promise<number>
  /** Puts a certificate in the place of the host's last one. */
  save(certificate: SealedCertificate, atMicros: number): Promise<void>
  /** Writes down when to renew; nothing where the host has another certificate by now. */
  noteAdvice(host: string, ariId: string, window: RenewalWindow): Promise<void>
  /** False when there was none. */
  remove(host: string): Promise<boolean>
}

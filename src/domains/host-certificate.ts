/** The validity period of a certificate, in microseconds since the epoch. */
export type CertificateLife = {
  readonly notBefore: number
  readonly notAfter: number
}

/** The state of a host's certificate and of its order, for reports to people. */
export type CertificateStanding = {
  /** The validity of the current certificate; null while there is none. */
  readonly life: CertificateLife | null
  /** What prevents the first certificate or the renewal, as text; null when nothing does. */
  readonly problem: string | null
  /** The time of the next attempt, in microseconds since the epoch; null when none is planned. */
  readonly nextAttemptAt: number | null
}

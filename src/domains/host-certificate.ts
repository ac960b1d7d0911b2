/** From when to when a certificate counts. Microseconds since the epoch. */
export type CertificateLife = {
  readonly notBefore: number
  readonly notAfter: number
}

/** How a host that is to have a certificate stands, for those who look after it. */
export type CertificateStanding = {
  /** That of the certificate in use; null while there is none. */
  readonly life: CertificateLife | null
  /** What stands in the way of the first or the next one, in words; null while nothing does. */
  readonly problem: string | null
  /** When it is tried again; null where there is nothing to try. Microseconds since the epoch. */
  readonly nextAttemptAt: number | null
}

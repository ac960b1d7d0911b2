/** What a click is made from: a visit's header values as they were sent. */
export type RawVisit = {
  /** Microseconds since the epoch. */
  readonly at: number
  readonly method: string
  /** The client's address, after the proxies that are trusted. */
  readonly address: string
  /** Whether `address` is that of a proxy: one that is not trusted, or that sent no address. */
  readonly isForwarded: boolean
  /** Without the question mark. */
  readonly query: string
  readonly userAgent: string | undefined
  readonly referer: string | undefined
  readonly acceptLanguage: string | undefined
  readonly secPurpose: string | undefined
  readonly purpose: string | undefined
  readonly xPurpose: string | undefined
  readonly xMoz: string | undefined
}

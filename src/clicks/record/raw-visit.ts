/** The input of a click: a visit with its header values as sent. */
export type RawVisit = {
  /** Microseconds since the epoch. */
  readonly at: number
  readonly method: string
  /** The client's address, resolved through trusted proxies. */
  readonly address: string
  /** Whether `address` belongs to a proxy that is not trusted or that sent no client address. */
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

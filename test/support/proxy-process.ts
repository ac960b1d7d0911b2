/** A proxy in front of Terse, configured as in the documentation's example. */
export type ProxyProcess = {
  readonly httpsPort: number
  /** The certificate of the authority that stands for a public one. */
  readonly authorityPem: string
  stop(): Promise<void>
}

/** Which domains ask browsers to use HTTPS alone (RFC 6797), by the claim: a row goes with it. */
export type HstsStore = {
  /** For how many seconds; undefined where it is not asked for. */
  find(domainId: string): Promise<number | undefined>
  save(domainId: string, maxAgeSeconds: number): Promise<void>
  remove(domainId: string): Promise<void>
}

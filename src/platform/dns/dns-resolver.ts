/** Why a question got no answer that could be gone by. */
export type DnsSilence = 'timeout' | 'server_failure' | 'unreachable'

/** What DNS says to one question. */
export type DnsAnswer<T> =
  | { readonly kind: 'found'; readonly values: readonly T[] }
  /** The name does not exist (NXDOMAIN), or has no record of the type that was asked for (NODATA). */
  | { readonly kind: 'none'; readonly nameExists: boolean }
  /** Nothing was said for sure. It never speaks against a domain. */
  | { readonly kind: 'unknown'; readonly reason: DnsSilence }

/** One property of a CAA record set (RFC 8659), such as `issue` with `letsencrypt.org`. */
export type CaaProperty = {
  readonly tag: string
  readonly value: string
  readonly isCritical: boolean
}

/**
 * Asks DNS. No question waits for ever, and none throws: what goes wrong is an answer too. Texts hold
 * printable ASCII alone, and names have no dot at the end, so that both can be shown as they are.
 */
export type DnsResolver = {
  txt(name: string): Promise<DnsAnswer<string>>
  /** The name's own alias, one step of a chain. */
  cname(name: string): Promise<DnsAnswer<string>>
  ipv4(name: string): Promise<DnsAnswer<string>>
  ipv6(name: string): Promise<DnsAnswer<string>>
  caa(name: string): Promise<DnsAnswer<CaaProperty>>
  /** Ends what is under way, as `timeout`. */
  cancel(): void
}

export function valuesOf<T>(answer: DnsAnswer<T>): readonly T[] {
  return answer.kind === 'found' ? answer.values : []
}

/**
 * The answers that error codes of c-ares stand for (https://nodejs.org/api/dns.html#error-codes).
 */
const ANSWERS: Readonly<Record<string, DnsAnswer<never>>> = {
  ENODATA: { kind: 'none', nameExists: true },
  ENOTFOUND: { kind: 'none', nameExists: false },
  // A name that is too long for DNS does not exist.
  EBADNAME: { kind: 'none', nameExists: false },
  ETIMEOUT: { kind: 'unknown', reason: 'timeout' },
  ECANCELLED: { kind: 'unknown', reason: 'timeout' },
  ECONNREFUSED: { kind: 'unknown', reason: 'unreachable' },
}

/**
 * Turns an error of a query into an answer: `unknown`, unless the code proves that nothing exists.
 */
export function answerFromError(error: unknown): DnsAnswer<never> {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return ANSWERS[code] ?? { kind: 'unknown', reason: 'server_failure' }
}

/** Why a query has no conclusive answer. */
export type DnsFailureReason = 'timeout' | 'server_failure' | 'unreachable'

/** The answer to one query. */
export type DnsAnswer<T> =
  | { readonly kind: 'found'; readonly values: readonly T[] }
  /** The name does not exist (NXDOMAIN), or has no record of the requested type (NODATA). */
  | { readonly kind: 'none'; readonly nameExists: boolean }
  /** Inconclusive. It never changes the status of a domain. */
  | { readonly kind: 'unknown'; readonly reason: DnsFailureReason }

/** One property of a CAA record set (RFC 8659), such as `issue` with `letsencrypt.org`. */
export type CaaProperty = {
  readonly tag: string
  readonly value: string
  readonly isCritical: boolean
}

/**
 * Queries DNS. Every query ends within a deadline and never throws: a failure is an answer of the kind
 * `unknown`. Texts hold only printable ASCII and names have no trailing dot, so both are safe to print.
 */
export type DnsResolver = {
  txt(name: string): Promise<DnsAnswer<string>>
  /** Returns the name's own CNAME target, without following the chain. */
  cname(name: string): Promise<DnsAnswer<string>>
  ipv4(name: string): Promise<DnsAnswer<string>>
  ipv6(name: string): Promise<DnsAnswer<string>>
  caa(name: string): Promise<DnsAnswer<CaaProperty>>
  /** Ends all queries in progress, as `timeout`. */
  cancel(): void
}

export function valuesOf<T>(answer: DnsAnswer<T>): readonly T[] {
  return answer.kind === 'found' ? answer.values : []
}

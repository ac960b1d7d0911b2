import type { DnsAnswer } from './dns-resolver.ts'

/** What c-ares's codes mean to a proof (https://nodejs.org/api/dns.html#error-codes). */
const ANSWERS: Readonly<Record<string, DnsAnswer<never>>> = {
  ENODATA: { kind: 'none', nameExists: true },
  ENOTFOUND: { kind: 'none', nameExists: false },
  // A name longer than DNS allows is in nobody's zone.
  EBADNAME: { kind: 'none', nameExists: false },
  ETIMEOUT: { kind: 'unknown', reason: 'timeout' },
  ECANCELLED: { kind: 'unknown', reason: 'timeout' },
  ECONNREFUSED: { kind: 'unknown', reason: 'unreachable' },
}

/** Everything that is not known to mean "nothing there" says nothing at all. */
export function answerOfError(error: unknown): DnsAnswer<never> {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return ANSWERS[code] ?? { kind: 'unknown', reason: 'server_failure' }
}

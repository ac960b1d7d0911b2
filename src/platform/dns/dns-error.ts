import type { DnsAnswer } from './dns-resolver.ts'

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

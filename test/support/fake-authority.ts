import type { CertificateAuthority } from '../../src/certificates/certificate-authority.ts'
import type { Clock } from '../../src/platform/time/clock.ts'
import { createTestAuthority } from './test-authority.ts'

const DAY_MS = 24 * 60 * 60 * 1_000

/** A certificate authority in this process, without a network. */
export type FakeAuthority = CertificateAuthority & {
  /** The hosts of all orders, in the order in which they were placed. */
  readonly placed: readonly string[]
}

/**
 * Creates the authority.
 *
 * @param options.fails hosts whose validation fails
 * @param options.beforeOrder awaited before each order is placed
 */
export function fakeAuthority(options: {
  directory: string
  clock: Clock
  fails: (host: string) => boolean
  beforeOrder?: (host: string) => Promise<void>
}): FakeAuthority {
  const { directory, clock, fails, beforeOrder } = options
  const issuer = createTestAuthority()
  const placed: string[] = []
  const issued = new Map<string, string>()
  const orderOf = (url: string, isValid = false) => ({
    url,
    status: isValid ? ('valid' as const) : ('ready' as const),
    authorizationUrl: url,
    finalizeUrl: url,
    certificateUrl: isValid ? url : undefined,
    error: undefined,
    retryAfterMs: undefined,
  })
  return {
    directory,
    placed,
    caaIdentities: async () => [],
    registerAccount: async () => `${directory}/account`,
    async placeOrder(_account, host) {
      await beforeOrder?.(host)
      placed.push(host)
      const order = orderOf(`${directory}/${placed.length}`)
      return fails(host) ? { ...order, status: 'invalid', error: 'no way to it' } : order
    },
    readOrder: async (_account, url) => orderOf(url, issued.has(url)),
    readAuthorization: async () => ({
      status: 'invalid',
      challenges: [],
      error: undefined,
      retryAfterMs: undefined,
    }),
    keyAuthorization: async () => 'answer',
    respondToChallenge: async () => {},
    async finalize(_account, { url }, host, keyPem) {
      const now = clock.nowMicros() / 1_000
      const life = { notBefore: new Date(now), notAfter: new Date(now + 90 * DAY_MS) }
      issued.set(url, issuer.certify(host, keyPem, life))
      return orderOf(url, true)
    },
    downloadCertificate: async (_account, url) => issued.get(url) ?? '',
    renewalIdOf: () => undefined,
    findRenewalInfo: async () => undefined,
    cancel: () => {},
  }
}

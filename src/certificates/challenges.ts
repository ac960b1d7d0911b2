import type { Clock } from '../platform/time/clock.ts'
import { alpnCertificate } from './acme/x509.ts'
import type { AuthorityChallenge, ChallengeType } from './certificate-authority.ts'
import type { CertificateOrderStore } from './store/certificate-order-store.ts'

/** Which type of challenge is used; `auto` tries both. */
export type ChallengePolicy = 'auto' | ChallengeType

/**
 * Chooses the challenge to respond to. With `auto` it is the type that succeeded last, `http-01` at first,
 * and the other type at every second attempt: a service whose port 80 is closed learns it from one failure.
 *
 * @param worked the type that succeeded last for any host
 * @param attempts failed attempts in a row
 */
export function chooseChallenge(
  offered: readonly AuthorityChallenge[],
  policy: ChallengePolicy,
  worked: ChallengeType | null,
  attempts: number,
): AuthorityChallenge | undefined {
  const find = (type: ChallengeType) => offered.find((challenge) => challenge.type === type)
  if (policy !== 'auto') return find(policy)
  const first = worked ?? 'http-01'
  const preferred = attempts % 2 === 0 ? first : otherThan(first)
  return find(preferred) ?? find(otherThan(preferred))
}

function otherThan(type: ChallengeType): ChallengeType {
  return type === 'http-01' ? 'tls-alpn-01' : 'http-01'
}

/**
 * The answers to the challenges of a certificate authority. The authority may connect to any node, so
 * the answers come from the store.
 */
export type ChallengeAnswers = {
  /** Returns the body for `http-01` (RFC 8555, section 8.3); undefined without such a challenge. */
  findHttp(host: string, token: string): Promise<string | undefined>
  /**
   * Returns the certificate for `tls-alpn-01` (RFC 8737, section 3); undefined without such a
   * challenge.
   */
  findAlpn(host: string): Promise<{ chainPem: string; keyPem: string } | undefined>
}

/** Answers challenges from the store, so that any node can answer for an order of another node. */
export function storedChallengeAnswers(
  orders: CertificateOrderStore,
  clock: Clock,
): ChallengeAnswers {
  return {
    async findHttp(host, token) {
      const active = await orders.findChallenge(host)
      return active?.type === 'http-01' && active.token === token
        ? active.keyAuthorization
        : undefined
    },
    async findAlpn(host) {
      const active = await orders.findChallenge(host)
      return active?.type === 'tls-alpn-01'
        ? alpnCertificate(host, active.keyAuthorization, clock.nowMicros() / 1_000)
        : undefined
    },
  }
}

import type { Clock } from '../../platform/time/clock.ts'
import type { ChallengeAnswers } from '../challenge-answers.ts'
import type { CertificateOrderStore } from '../store/certificate-order-store.ts'
import { alpnCertificate } from './alpn-certificate.ts'

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

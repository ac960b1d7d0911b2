import type { Clock } from '../../platform/time/clock.ts'
import type { CertificateOrderStore } from '../certificate-order-store.ts'
import type { ChallengeAnswers } from '../challenge-answers.ts'
import { alpnCertificate } from './alpn-certificate.ts'

/** The answers to what authorities ask, whichever node has begun the order. */
export function storedChallengeAnswers(
  orders: CertificateOrderStore,
  clock: Clock,
): ChallengeAnswers {
  return {
    async findHttp(host, token) {
      const posed = await orders.findChallenge(host)
      return posed?.type === 'http-01' && posed.token === token ? posed.answer : undefined
    },
    async findAlpn(host) {
      const posed = await orders.findChallenge(host)
      return posed?.type === 'tls-alpn-01'
        ? alpnCertificate(host, posed.answer, clock.nowMicros() / 1_000)
        : undefined
    },
  }
}

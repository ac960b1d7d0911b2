import type { AuthorityChallenge, ChallengeType } from './certificate-authority.ts'

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

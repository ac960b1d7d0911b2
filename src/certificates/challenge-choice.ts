import type { AuthorityChallenge, ChallengeType } from './certificate-authority.ts'

/** Which challenges are answered: one kind, or whichever works. */
export type ChallengePolicy = 'auto' | ChallengeType

/**
 * The challenge to answer. Where both may work, it is the kind by which a host was last seen to be ours,
 * `http-01` at first, and at every other attempt the other one: a service of which port 80 cannot be
 * reached finds out by its first host.
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
  const now = attempts % 2 === 0 ? first : otherThan(first)
  return find(now) ?? find(otherThan(now))
}

function otherThan(type: ChallengeType): ChallengeType {
  return type === 'http-01' ? 'tls-alpn-01' : 'http-01'
}

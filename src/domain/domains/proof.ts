/** What an operator asks for before a domain becomes active. */
export type ProofPolicy = 'dns' | 'none'

/**
 * Whether a claim is proved without asking DNS: under the policy `none`, and for `*.localhost`, which
 * always leads to the machine itself (RFC 6761, section 6.3), so that a newcomer can try a domain.
 */
export function isProvedWithoutDns(host: string, policy: ProofPolicy): boolean {
  return policy === 'none' || host.endsWith('.localhost')
}

import { createHmac } from 'node:crypto'

/**
 * What an operator requires before a domain becomes active. `dns`: the workspace's TXT record is set and
 * the domain leads to this service; `routing`: it leads to this service; `none`: nothing.
 */
export type ProofPolicy = 'dns' | 'routing' | 'none'

const TEXT_PREFIX = 'terse-verify='
const NAME_PREFIX = '_terse.'
/** 160 bits cannot be guessed, and the text still fits on one line of a form. */
const CODE_BYTES = 20

/**
 * Whether a claim is proved without DNS queries: under the policy `none`, and for `*.localhost`, which
 * always leads to the machine itself (RFC 6761, section 6.3), so that new users can try a domain.
 */
export function isProvedWithoutDns(host: string, policy: ProofPolicy): boolean {
  return policy === 'none' || host.endsWith('.localhost')
}

/** Returns the name of the TXT record that proves a host. */
export function proofName(host: string): string {
  return NAME_PREFIX + host
}

/**
 * Returns the text that proves a workspace's claim on a host. It differs for every workspace and host, so
 * a record that others copy, or that a wildcard repeats below the host, proves nothing else.
 *
 * @param key derived from the instance's key, for `domain-proof`
 */
export function proofText(key: Buffer, workspaceId: string, host: string): string {
  const code = createHmac('sha256', key).update(`${workspaceId}\n${host}`).digest()
  return TEXT_PREFIX + code.subarray(0, CODE_BYTES).toString('hex')
}

/** Whether a text has the form of a proof, perhaps for another workspace or host. */
export function isProofText(text: string): boolean {
  return plain(text).startsWith(TEXT_PREFIX)
}

/** Compares proofs; ignores quotes and spaces, which some DNS panels keep. */
export function isSameProof(text: string, expected: string): boolean {
  return plain(text) === expected
}

function plain(text: string): string {
  return text.trim().replace(/^"(.*)"$/, '$1')
}

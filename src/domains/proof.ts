import { createHmac } from 'node:crypto'

/**
 * What an operator asks for before a domain becomes active: that its owner has set the workspace's
 * TXT record and it leads here (`dns`), that it leads here (`routing`), or nothing (`none`).
 */
export type ProofPolicy = 'dns' | 'routing' | 'none'

const TEXT_PREFIX = 'terse-verify='
const NAME_PREFIX = '_terse.'
/** 160 bits: nobody guesses them, and the text still fits on one line of a form. */
const CODE_BYTES = 20

/**
 * Whether a claim is proved without asking DNS: under the policy `none`, and for `*.localhost`, which
 * always leads to the machine itself (RFC 6761, section 6.3), so that a newcomer can try a domain.
 */
export function isProvedWithoutDns(host: string, policy: ProofPolicy): boolean {
  return policy === 'none' || host.endsWith('.localhost')
}

/** The name at which a host's owner sets the proof. */
export function proofName(host: string): string {
  return NAME_PREFIX + host
}

/**
 * The text that proves a workspace's claim on a host. It is that of no other workspace and no other
 * host, so that a record seen by others, or one that a wildcard repeats, proves nothing else.
 *
 * @param key from the instance's key, for `domain-proof`
 */
export function proofText(key: Buffer, workspaceId: string, host: string): string {
  const code = createHmac('sha256', key).update(`${workspaceId}\n${host}`).digest()
  return TEXT_PREFIX + code.subarray(0, CODE_BYTES).toString('hex')
}

/** Whether a text is meant as a proof, if perhaps of another workspace or host. */
export function isProofText(text: string): boolean {
  return plain(text).startsWith(TEXT_PREFIX)
}

/** Some panels keep the quotes or spaces that were pasted with a text. */
export function isSameProof(text: string, expected: string): boolean {
  return plain(text) === expected
}

function plain(text: string): string {
  return text.trim().replace(/^"(.*)"$/, '$1')
}

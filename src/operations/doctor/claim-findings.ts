import {
  adviseOnOwnership,
  type DnsObservation,
  type DomainStatus,
  judgeOwnership,
  type ProofPolicy,
  proofText,
  recordsFor,
  type ServiceAddresses,
  type ServiceTarget,
} from '../../domains/index.ts'
import { formatHost } from '../../hosts/index.ts'
import { terseCommand } from '../../platform/process/terse-command.ts'
import type { Finding } from './finding.ts'

/** A workspace's claim on a host. */
export type InspectedClaim = {
  readonly workspaceId: string
  readonly workspace: string
  readonly status: DomainStatus
}

/** The rules and the key by which claims are proved. */
type ProofRules = {
  readonly policy: ProofPolicy
  /** Whether a name is reserved for the operator. */
  readonly isReserved: (host: string) => boolean
  /** Returns undefined when there is no instance yet. */
  readonly findProofKey: () => Buffer | undefined
  readonly target: ServiceTarget
  readonly addresses: ServiceAddresses
}

/** @param claims undefined when they cannot be read from the database */
export function domainFinding(
  host: string,
  claims: readonly InspectedClaim[] | undefined,
): Finding {
  const subject = 'domain'
  if (claims === undefined) {
    return {
      subject,
      state: 'warning',
      text: 'the database could not be read, so its claims are unknown',
      advice: `Run ${terseCommand('doctor')} without a host to check the database.`,
    }
  }
  const listed = claims.map(({ workspace, status }) => `${status} in ${workspace}`).join(', ')
  if (claims.some(({ status }) => status === 'active')) {
    return { subject, state: 'ok', text: `${formatHost(host)} is ${listed}` }
  }
  const advice =
    claims.length === 0
      ? terseCommand(`domain add ${host} --workspace <name>`)
      : `Once the DNS records are set: ${terseCommand(`domain check ${host}`)}`
  const name = formatHost(host)
  const text = claims.length === 0 ? `no workspace has added ${name}` : `${name} is ${listed}`
  return { subject, state: 'warning', text, advice }
}

/** Reports, for each workspace that has added the host, whether DNS holds its proof. */
export function proofFindings(
  host: string,
  claims: readonly InspectedClaim[] | undefined,
  observation: DnsObservation,
  { policy, isReserved, findProofKey, target, addresses }: ProofRules,
): Finding[] {
  const subject = 'proof'
  const isActive = claims?.some(({ status }) => status === 'active') ?? false
  const isRouteEnough = policy === 'routing' && (isActive || !isReserved(host))
  if (policy === 'none' || isRouteEnough) {
    return [{ subject, state: 'skipped', text: `TERSE_DOMAIN_PROOF=${policy}` }]
  }
  const proofKey = findProofKey()
  if (claims === undefined || claims.length === 0 || proofKey === undefined) {
    return [{ subject, state: 'skipped', text: 'it depends on the workspace that adds the domain' }]
  }
  return claims.map(({ workspace, workspaceId, status }) => {
    const proof = proofText(proofKey, workspaceId, host)
    const ownership = judgeOwnership(observation, proof)
    const records = recordsFor(host, proof, target, addresses)
    const [difference] = adviseOnOwnership(host, ownership, records)
    if (difference === undefined) {
      return { subject, state: 'ok', text: `the TXT record of ${workspace} is there` }
    }
    const isProblem =
      difference.code !== 'txt_unknown' && (status === 'active' || claims.length === 1)
    return {
      subject,
      state: isProblem ? 'problem' : 'warning',
      text: `the TXT record of ${workspace} is not seen`,
      advice: difference.text,
    }
  })
}

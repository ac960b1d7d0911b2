import { isCertifiable } from '../../certificates/index.ts'
import {
  adviseOnOwnership,
  adviseOnRouting,
  type CertificateStanding,
  type DnsObservation,
  type DomainStatus,
  judgeOwnership,
  judgeRouting,
  type ProofPolicy,
  proofText,
  recordsFor,
  type ServiceAddresses,
  type ServiceTarget,
} from '../../domains/index.ts'
import { findProxy, formatHost } from '../../hosts/index.ts'
import type { CaaPermission } from '../../platform/dns/caa.ts'
import { valuesOf } from '../../platform/dns/dns-resolver.ts'
import { terseCommand } from '../../platform/process/terse-command.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { ServedCertificate } from '../../platform/tls/probe-certificate.ts'

/** The result of one check of an instance or a host. */
export type Finding = {
  readonly subject: string
  /** `skipped`: it was not checked. */
  readonly state: 'ok' | 'warning' | 'problem' | 'skipped'
  readonly text: string
  /** What to do about it. */
  readonly advice?: string
}

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

/** Reports where a host leads, with a further finding for addresses that are not this service's. */
export function routingFindings(
  host: string,
  observation: DnsObservation,
  addresses: ServiceAddresses,
  target: ServiceTarget,
): Finding[] {
  const subject = 'routing'
  const routing = judgeRouting(observation, addresses)
  const records = recordsFor(host, undefined, target, addresses)
  const advice = adviseOnRouting(host, routing, records).map((difference) => difference.text)
  const seen = [
    ...observation.aliases.targets,
    ...valuesOf(observation.ipv4),
    ...valuesOf(observation.ipv6),
  ]
  const name = formatHost(host)
  const path = seen.length === 0 ? `${name} leads nowhere` : `${name} → ${seen.join(' → ')}`
  if (routing.state === 'routed') {
    const found: Finding = { subject, state: 'ok', text: path }
    const strays = advice.map(
      (text): Finding => ({
        subject: 'address',
        state: 'problem',
        text: 'one of its addresses does not belong to this service',
        advice: text,
      }),
    )
    return [found, ...strays]
  }
  const isUnknown = routing.state === 'unknown' || routing.state === 'service_unknown'
  const state = isUnknown ? 'warning' : 'problem'
  return [{ subject, state, text: path, ...(advice[0] !== undefined && { advice: advice[0] }) }]
}

export function proxyFinding(observation: DnsObservation): Finding {
  const subject = 'proxy'
  const addresses = [...valuesOf(observation.ipv4), ...valuesOf(observation.ipv6)]
  const proxy = findProxy(addresses, observation.aliases.targets)
  if (proxy === undefined) return { subject, state: 'ok', text: 'no known proxy is in front' }
  return {
    subject,
    state: 'warning',
    text: `${proxy} is in front`,
    advice: 'It hides whether the name leads here: disable it for this name ("DNS only").',
  }
}

/**
 * @param caa undefined when it was not queried
 * @param authority the authority's name in CAA records
 */
export function caaFinding(caa: CaaPermission | undefined, authority: string): Finding {
  const subject = 'caa'
  if (caa === undefined) {
    const text = 'not checked: the authority does not publish its name for CAA records'
    return { subject, state: 'skipped', text }
  }
  switch (caa.state) {
    case 'allowed':
      return { subject, state: 'ok', text: `${authority} may issue a certificate` }
    case 'forbidden': {
      const others = caa.allowed.length === 0 ? 'no authority' : caa.allowed.join(', ')
      return {
        subject,
        state: 'problem',
        text: `the CAA records at ${caa.at} allow certificates only from ${others}`,
        advice: `Add a CAA record at ${caa.at}: 0 issue "${authority}".`,
      }
    }
    case 'unknown':
      return {
        subject,
        state: 'warning',
        text: 'DNS did not answer whether CAA records forbid a certificate',
      }
  }
}

/** A certificate that expires this soon should already have been renewed automatically. */
const ENDS_SOON_MS = 24 * 60 * 60 * 1_000

/** Reports on the stored certificate of a host and on its orders. */
export function storedFindings(
  servesHttps: boolean,
  host: string,
  standing: CertificateStanding | undefined,
  clock: Clock,
): readonly Finding[] {
  const subject = 'certificate'
  if (!servesHttps) {
    return [{ subject, state: 'skipped', text: 'TERSE_TLS=off leaves it to a proxy in front' }]
  }
  if (!isCertifiable(host)) {
    return [{ subject, state: 'skipped', text: 'no authority issues certificates for such a name' }]
  }
  const { life = null, problem = null, nextAttemptAt = null } = standing ?? {}
  const end = life && endFinding(subject, 'the stored certificate', life.notAfter / 1_000, clock)
  if (problem !== null) {
    const again = nextAttemptAt === null ? '' : ` The next attempt is at ${instant(nextAttemptAt)}.`
    const failed: Finding = {
      subject,
      state: end?.state === 'ok' ? 'warning' : 'problem',
      text: `the ${life === null ? 'first order' : 'renewal'} failed: ${problem}`,
      advice: `Resolve this problem; the authority, too, must reach this service by the name.${again}`,
    }
    return end === null ? [failed] : [end, failed]
  }
  if (end !== null) return [end]
  const advice = 'It is ordered once the domain is active; see the log of the service.'
  return [{ subject, state: 'warning', text: 'none is stored yet', advice }]
}

/**
 * Reports on the certificate that visitors of the host receive, from this service or from a proxy.
 */
export function shownFinding(shown: ServedCertificate | undefined, clock: Clock): Finding {
  const subject = 'https'
  if (shown === undefined) {
    return { subject, state: 'skipped', text: 'not checked: the name does not lead here' }
  }
  if (shown.kind === 'none') {
    return { subject, state: 'warning', text: `visitors get no certificate (${shown.reason})` }
  }
  const { issuer, validUntil, error } = shown
  if (error !== undefined) {
    return {
      subject,
      state: 'problem',
      text: `visitors receive a certificate that browsers refuse (${error}), from ${issuer}`,
      advice: 'The server at this address needs a valid certificate for this name.',
    }
  }
  return endFinding(
    subject,
    `visitors receive one from ${issuer}, which`,
    validUntil.getTime(),
    clock,
  )
}

function endFinding(subject: string, what: string, endMs: number, clock: Clock): Finding {
  const leftMs = endMs - clock.nowMicros() / 1_000
  const until = new Date(endMs).toISOString()
  if (leftMs <= 0) {
    const advice = 'It was not renewed; see the log of the server that renews it.'
    return { subject, state: 'problem', text: `${what} expired at ${until}`, advice }
  }
  const text = `${what} is valid until ${until}`
  if (leftMs >= ENDS_SOON_MS) return { subject, state: 'ok', text }
  const advice = 'It should have been renewed by now; see the log of the server that renews it.'
  return { subject, state: 'warning', text, advice }
}

function instant(micros: number): string {
  return new Date(micros / 1_000).toISOString()
}

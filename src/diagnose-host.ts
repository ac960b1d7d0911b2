import { openResolver, serviceTargetOf } from './compose/domains.ts'
import type { Config } from './config/read-config.ts'
import { loadSecretKey } from './config/secret-key.ts'
import type { Finding } from './diagnose.ts'
import { isCertifiable } from './domain/certificates/certifiable-host.ts'
import type { CertificateStanding } from './domain/certificates/certificate-standing.ts'
import { type CaaPermission, findCaaPermission } from './domain/domains/caa.ts'
import { adviseOnOwnership, adviseOnRouting } from './domain/domains/dns-advice.ts'
import { judgeOwnership, judgeRouting } from './domain/domains/dns-judgement.ts'
import { type DnsObservation, observeDns } from './domain/domains/dns-observation.ts'
import { recordsFor } from './domain/domains/dns-records.ts'
import { valuesOf } from './domain/domains/dns-resolver.ts'
import { parseHost } from './domain/domains/host.ts'
import { findProxy } from './domain/domains/known-proxies.ts'
import { isProvedWithoutDns, proofText } from './domain/domains/proof.ts'
import { type ServiceAddresses, serviceAddresses } from './domain/domains/service-target.ts'
import { Failure } from './domain/failure.ts'
import { deriveKey } from './domain/instance/instance-keys.ts'
import type { Clock } from './lib/clock.ts'
import { type InspectedClaim, inspectCertificate, inspectClaims } from './storage/inspect.ts'
import { lookAtCertificate, type ShownCertificate } from './tls/look-at-certificate.ts'

/** By which CAA records allow the authority that is the default. */
const AUTHORITY = 'letsencrypt.org'
const HANDSHAKE_TIMEOUT_MS = 5_000
/** A certificate that ends so soon will hardly be renewed by itself. */
const ENDS_SOON_MS = 24 * 60 * 60 * 1_000

/** Looks at the DNS of one host, and at who has added it here; changes nothing. */
export async function diagnoseHost(
  config: Config,
  text: string,
  clock: Clock,
): Promise<readonly Finding[]> {
  const parsed = parseHost(text)
  if ('fault' in parsed) throw Failure.invalid({ host: [parsed.fault] })
  const host = parsed.value
  const claims = await claimsOn(config, host)
  if (isProvedWithoutDns(host, config.domainProof)) {
    const why = host.endsWith('.localhost')
      ? 'a name under .localhost leads to this machine by itself'
      : 'TERSE_DOMAIN_PROOF=none asks DNS nothing'
    const routing: Finding = { subject: 'routing', state: 'skipped', text: why }
    return [
      domainFinding(host, claims),
      routing,
      ...storedFindings(config, host, await certificateOf(config, host, clock), clock),
    ]
  }
  const resolver = openResolver(config)
  const [observation, addresses, names] = await Promise.all([
    observeDns(resolver, host, clock),
    serviceAddresses(serviceTargetOf(config), resolver, clock)(),
    authorityNames(config, clock),
  ])
  const caa = names && (await findCaaPermission(resolver, host, names))
  const stored = await certificateOf(config, host, clock)
  const leadsHere = judgeRouting(observation, addresses).state === 'routed'
  const shown = leadsHere ? await look(config, host, observation) : undefined
  return [
    domainFinding(host, claims),
    ...proofFindings(config, host, claims, observation, addresses),
    ...routingFindings(config, host, observation, addresses),
    proxyFinding(observation),
    caaFinding(caa, names?.[0] ?? AUTHORITY),
    ...storedFindings(config, host, stored, clock),
    shownFinding(shown, clock),
  ]
}

/** Undefined also where the database cannot say, which the finding about the domain tells. */
async function certificateOf(
  config: Config,
  host: string,
  clock: Clock,
): Promise<CertificateStanding | undefined> {
  try {
    return await inspectCertificate(config, host, config.acme.directory, clock.nowMicros())
  } catch {
    return undefined
  }
}

/**
 * By which names CAA records allow the authority; undefined where it does not say, or not now. What a
 * proxy in front uses is not known here: most take the default.
 */
async function authorityNames(
  config: Config,
  clock: Clock,
): Promise<readonly string[] | undefined> {
  const isDefault = new URL(config.acme.directory).host.endsWith('.letsencrypt.org')
  if (config.tls === undefined || isDefault) return [AUTHORITY]
  const { openAuthority } = await import('./compose/certificate-work.ts')
  const authority = openAuthority(config.acme, clock)
  try {
    const names = await authority.caaIdentities()
    return names.length === 0 ? undefined : names
  } catch {
    return undefined
  } finally {
    authority.cancel()
  }
}

/** As a visitor sees it, at the first address that DNS gives; whoever answers elsewhere is not asked. */
async function look(
  config: Config,
  host: string,
  observation: DnsObservation,
): Promise<ShownCertificate | undefined> {
  const [address] = [...valuesOf(observation.ipv4), ...valuesOf(observation.ipv6)]
  if (address === undefined) return undefined
  const { protocol, port } = new URL(config.baseUrl)
  return lookAtCertificate({
    host,
    address,
    port: protocol === 'https:' && port !== '' ? Number(port) : 443,
    timeoutMs: HANDSHAKE_TIMEOUT_MS,
  })
}

function storedFindings(
  config: Config,
  host: string,
  standing: CertificateStanding | undefined,
  clock: Clock,
): readonly Finding[] {
  const subject = 'certificate'
  if (config.tls === undefined) {
    return [{ subject, state: 'skipped', text: 'TERSE_TLS=off leaves it to a proxy in front' }]
  }
  if (!isCertifiable(host)) {
    return [{ subject, state: 'skipped', text: 'no authority issues any for such a name' }]
  }
  const { life = null, problem = null, nextAttemptAt = null } = standing ?? {}
  const end = life && endFinding(subject, 'the one here', life.notAfter / 1_000, clock)
  if (problem !== null) {
    const again = nextAttemptAt === null ? '' : ` It is tried again at ${instant(nextAttemptAt)}.`
    const failed: Finding = {
      subject,
      state: end?.state === 'ok' ? 'warning' : 'problem',
      text: `the ${life === null ? 'first' : 'next'} one could not be had: ${problem}`,
      advice: `See to what it says: the name must lead here for the authority, too.${again}`,
    }
    return end === null ? [failed] : [end, failed]
  }
  if (end !== null) return [end]
  const advice = 'One is asked for once the domain is active; the log of the service tells more.'
  return [{ subject, state: 'warning', text: 'there is none here yet', advice }]
}

function instant(micros: number): string {
  return new Date(micros / 1_000).toISOString()
}

function shownFinding(shown: ShownCertificate | undefined, clock: Clock): Finding {
  const subject = 'https'
  if (shown === undefined) {
    return { subject, state: 'skipped', text: 'not looked at: the name does not lead here' }
  }
  if (shown.kind === 'none') {
    return { subject, state: 'warning', text: `visitors get no certificate (${shown.reason})` }
  }
  const { issuer, validUntil, fault } = shown
  if (fault !== undefined) {
    return {
      subject,
      state: 'problem',
      text: `visitors are shown a certificate that browsers refuse (${fault}), from ${issuer}`,
      advice: 'Whoever answers at this address must have a certificate for this name.',
    }
  }
  return endFinding(
    subject,
    `visitors are shown one from ${issuer}, which`,
    validUntil.getTime(),
    clock,
  )
}

function endFinding(subject: string, what: string, endMs: number, clock: Clock): Finding {
  const leftMs = endMs - clock.nowMicros() / 1_000
  const until = new Date(endMs).toISOString()
  if (leftMs <= 0) {
    const advice = 'It was not renewed; the log of whoever renews it tells why.'
    return { subject, state: 'problem', text: `${what} ended at ${until}`, advice }
  }
  const text = `${what} counts until ${until}`
  if (leftMs >= ENDS_SOON_MS) return { subject, state: 'ok', text }
  const advice = 'It should have been renewed by now; the log of whoever renews it tells why.'
  return { subject, state: 'warning', text, advice }
}

/** Undefined where the database cannot say. */
async function claimsOn(
  config: Config,
  host: string,
): Promise<readonly InspectedClaim[] | undefined> {
  try {
    return await inspectClaims(config, host)
  } catch {
    return undefined
  }
}

function domainFinding(host: string, claims: readonly InspectedClaim[] | undefined): Finding {
  const subject = 'domain'
  if (claims === undefined) {
    return {
      subject,
      state: 'warning',
      text: 'the database cannot say who has added it',
      advice: 'terse doctor, without a host, looks at the database.',
    }
  }
  const inWords = claims.map(({ workspace, status }) => `${status} in ${workspace}`).join(', ')
  if (claims.some(({ status }) => status === 'active')) {
    return { subject, state: 'ok', text: `${host} is ${inWords}` }
  }
  const advice =
    claims.length === 0
      ? `terse domain add ${host} --workspace <name>`
      : `Once DNS is as it should be: terse domain check ${host}`
  const text = claims.length === 0 ? `nobody has added ${host} here` : `${host} is ${inWords}`
  return { subject, state: 'warning', text, advice }
}

function proofFindings(
  config: Config,
  host: string,
  claims: readonly InspectedClaim[] | undefined,
  observation: DnsObservation,
  addresses: ServiceAddresses,
): Finding[] {
  const subject = 'proof'
  if (config.domainProof !== 'dns') {
    return [{ subject, state: 'skipped', text: `TERSE_DOMAIN_PROOF=${config.domainProof}` }]
  }
  const secretKey = config.secretKey ?? loadSecretKey(config.dataDir)
  if (claims === undefined || claims.length === 0 || secretKey === undefined) {
    return [{ subject, state: 'skipped', text: 'it depends on the workspace that adds the domain' }]
  }
  const proofKey = deriveKey(secretKey, 'domain-proof')
  return claims.map(({ workspace, workspaceId, status }) => {
    const proof = proofText(proofKey, workspaceId, host)
    const ownership = judgeOwnership(observation, proof)
    const records = recordsFor(host, proof, serviceTargetOf(config), addresses)
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

function routingFindings(
  config: Config,
  host: string,
  observation: DnsObservation,
  addresses: ServiceAddresses,
): Finding[] {
  const subject = 'routing'
  const routing = judgeRouting(observation, addresses)
  const records = recordsFor(host, undefined, serviceTargetOf(config), addresses)
  const advice = adviseOnRouting(host, routing, records).map((difference) => difference.text)
  const seen = [
    ...observation.aliases.targets,
    ...valuesOf(observation.ipv4),
    ...valuesOf(observation.ipv6),
  ]
  const path = seen.length === 0 ? `${host} leads nowhere` : `${host} → ${seen.join(' → ')}`
  if (routing.state === 'routed') {
    const found: Finding = { subject, state: 'ok', text: path }
    const strays = advice.map(
      (text): Finding => ({
        subject: 'address',
        state: 'problem',
        text: 'one of its addresses is not this service',
        advice: text,
      }),
    )
    return [found, ...strays]
  }
  const isUnknown = routing.state === 'unknown' || routing.state === 'service_unknown'
  const state = isUnknown ? 'warning' : 'problem'
  return [{ subject, state, text: path, ...(advice[0] !== undefined && { advice: advice[0] }) }]
}

function proxyFinding(observation: DnsObservation): Finding {
  const subject = 'proxy'
  const addresses = [...valuesOf(observation.ipv4), ...valuesOf(observation.ipv6)]
  const proxy = findProxy(addresses, observation.aliases.targets)
  if (proxy === undefined) return { subject, state: 'ok', text: 'none that is known is in front' }
  return {
    subject,
    state: 'warning',
    text: `${proxy} is in front`,
    advice: 'It hides whether the name leads here: switch it off for this name ("DNS only").',
  }
}

function caaFinding(caa: CaaPermission | undefined, authority: string): Finding {
  const subject = 'caa'
  if (caa === undefined) {
    const text = 'not looked at: the authority does not say by which name it is allowed'
    return { subject, state: 'skipped', text }
  }
  switch (caa.state) {
    case 'allowed':
      return { subject, state: 'ok', text: `${authority} may issue a certificate` }
    case 'forbidden': {
      const others = caa.allowed.length === 0 ? 'nobody' : caa.allowed.join(', ')
      return {
        subject,
        state: 'problem',
        text: `the CAA records at ${caa.at} allow certificates from ${others} alone`,
        advice: `Add a CAA record at ${caa.at}: 0 issue "${authority}".`,
      }
    }
    case 'unknown':
      return {
        subject,
        state: 'warning',
        text: 'whether CAA records forbid a certificate was not answered',
      }
  }
}

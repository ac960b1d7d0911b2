import { statSync } from 'node:fs'
import { backupFindings, type ExaminedBackups } from '../../backup/backup-findings.ts'
import { type DnsObservation, judgeRouting, observeDns } from '../../domains/dns-judgement.ts'
import { isProvedWithoutDns, serviceAddresses } from '../../domains/dns-records.ts'
import type { CertificateStanding } from '../../domains/domain.ts'
import { parseHost } from '../../hosts/host.ts'
import {
  diskFindings,
  fileFindings,
  lastFileFindings,
} from '../../operations/doctor/data-folder-findings.ts'
import {
  caaFinding,
  domainFinding,
  type Finding,
  type InspectedClaim,
  proofFindings,
  proxyFinding,
  routingFindings,
  shownFinding,
  storedFindings,
} from '../../operations/doctor/host-findings.ts'
import {
  clockFinding,
  databaseFinding,
  groupFindings,
  type Inspection,
  journalFindings,
  nodesFinding,
  noFolder,
  nothingYet,
  proxyFindings,
  schemaFinding,
} from '../../operations/doctor/instance-findings.ts'
import { findCaaPermission } from '../../platform/dns/caa.ts'
import { valuesOf } from '../../platform/dns/dns-resolver.ts'
import { Failure } from '../../platform/failure.ts'
import { VERSION } from '../../platform/process/version.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { probeCertificate, type ServedCertificate } from '../../platform/tls/probe-certificate.ts'
import { deriveKey, loadSecretKey } from '../../storage/instance-keys.ts'
import type { Config } from '../config/config.ts'
import { inspectCertificate, inspectClaims, inspectDatabase } from '../database/inspect.ts'
import { clicksFinding } from '../database/inspect-clicks.ts'
import { NewerSchema, SCHEMA_VERSION } from '../database/migrations/migrate.ts'
import { UnreleasedSchema } from '../database/migrations/unreleased-schema.ts'
import { claimableHostsOf, openResolver, serviceTargetOf } from './domains.ts'

/** What is checked. Plain data, so that another process can do it. */
export type ExaminedInstance = Pick<
  Config,
  'dataDir' | 'databaseUrl' | 'clicks' | 'baseUrl' | 'diskLowRatio'
> &
  ExaminedBackups & {
    readonly servesHttps: boolean
    readonly trustsProxies: boolean
    /** The names in TERSE_OIDC_ROLES. */
    readonly mappedNames: readonly string[]
  }

export function examinedOf(config: Config): ExaminedInstance {
  const { dataDir, databaseUrl, clicks, baseUrl, diskLowRatio, s3, backup } = config
  const { tls, trustedProxies } = config
  const mappedNames = [...new Set(config.oidc?.roles.map(({ workspace }) => workspace))]
  const servesHttps = tls !== undefined
  const trustsProxies = !trustedProxies.isEmpty
  const examined = { dataDir, databaseUrl, clicks, baseUrl, diskLowRatio, s3, backup }
  return { ...examined, servesHttps, trustsProxies, mappedNames }
}

/**
 * Looks at everything that an instance rests on, and changes nothing.
 *
 * @param options.readsFiles whether to read the SQLite files, which can take minutes, or to report their last
 *   check; true when left out
 */
export async function diagnoseInstance(
  config: ExaminedInstance,
  clock: Clock,
  { readsFiles = true }: { readonly readsFiles?: boolean } = {},
): Promise<readonly Finding[]> {
  const program: Finding = {
    subject: 'program',
    state: 'ok',
    text: `Terse ${VERSION} on Node.js ${process.versions.node}, at ${config.baseUrl}`,
  }
  const entry = statSync(config.dataDir, { throwIfNoEntry: false })
  const folder = entry?.isDirectory() ?? false
  if (entry !== undefined && !folder) return [program, noFolder(config.dataDir)]
  if (!folder && config.databaseUrl === undefined) return [program, nothingYet(config.dataDir)]
  const fileCheck = readsFiles ? fileFindings : lastFileFindings
  const files = folder ? fileCheck(config) : []
  const disk = folder ? await diskFindings(config) : []
  let inspection: Inspection | undefined
  try {
    inspection = await inspectDatabase(config)
  } catch (error) {
    return [program, unreachable(error), ...files, ...disk]
  }
  if (inspection === undefined) {
    const damage = files.filter(({ state }) => state === 'problem')
    return [program, nothingYet(config.dataDir), ...damage, ...disk]
  }
  return [
    program,
    ...proxyFindings(config, inspection),
    ...groupFindings(config.mappedNames, inspection),
    databaseFinding(inspection),
    schemaFinding(inspection, SCHEMA_VERSION),
    ...(config.clicks ? [await clicksFinding(config.clicks, config.diskLowRatio)] : []),
    ...files,
    ...journalFindings(config.dataDir, inspection),
    nodesFinding(inspection, clock),
    clockFinding(inspection, clock),
    ...disk,
    ...(folder ? await backupFindings(config, clock) : []),
  ]
}

function unreachable(error: unknown): Finding {
  const cause = error instanceof Failure ? error.cause : error
  return {
    subject: 'database',
    state: 'problem',
    text: cause instanceof Error ? cause.message || cause.name : String(cause),
    advice: adviceFor(cause),
  }
}

function adviceFor(cause: unknown): string {
  if (cause instanceof NewerSchema) return 'Nothing is wrong with the data; update the program.'
  if (cause instanceof UnreleasedSchema) return 'Begin with an empty data folder or database.'
  return 'Check TERSE_DATABASE_URL or TERSE_DATA_DIR, and that the database runs.'
}

/** The name by which CAA records allow the default authority. */
const AUTHORITY = 'letsencrypt.org'
const HANDSHAKE_TIMEOUT_MS = 5_000

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
      ? 'a name under .localhost always leads to this machine'
      : 'TERSE_DOMAIN_PROOF=none asks DNS nothing'
    const routing: Finding = { subject: 'routing', state: 'skipped', text: why }
    return [
      domainFinding(host, claims),
      routing,
      ...storedFindings(
        config.tls !== undefined,
        host,
        await certificateOf(config, host, clock),
        clock,
      ),
    ]
  }
  const resolver = openResolver(config)
  const target = serviceTargetOf(config)
  const [observation, addresses, names] = await Promise.all([
    observeDns(resolver, host, clock),
    serviceAddresses(target, resolver, clock)(),
    authorityNames(config, clock),
  ])
  const caa = names && (await findCaaPermission(resolver, host, names))
  const stored = await certificateOf(config, host, clock)
  const leadsHere = judgeRouting(observation, addresses).state === 'routed'
  const shown = leadsHere ? await look(config, host, observation) : undefined
  return [
    domainFinding(host, claims),
    ...proofFindings(host, claims, observation, {
      policy: config.domainProof,
      isReserved: claimableHostsOf(config, false).isReserved,
      findProofKey: () => findProofKey(config),
      target,
      addresses,
    }),
    ...routingFindings(host, observation, addresses, target),
    proxyFinding(observation),
    caaFinding(caa, names?.[0] ?? AUTHORITY),
    ...storedFindings(config.tls !== undefined, host, stored, clock),
    shownFinding(shown, clock),
  ]
}

/** Returns undefined also when the database cannot be read, which another finding reports. */
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
 * Returns the names by which CAA records can allow the authority; undefined when it does not answer or
 * names none. The authority of a proxy in front is unknown; most use the default.
 */
async function authorityNames(
  config: Config,
  clock: Clock,
): Promise<readonly string[] | undefined> {
  const isDefault = new URL(config.acme.directory).host.endsWith('.letsencrypt.org')
  if (config.tls === undefined || isDefault) return [AUTHORITY]
  const { openAuthority } = await import('../node/tls.ts')
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

/** Returns the certificate that a visitor receives at the first address in DNS; others are not probed. */
async function look(
  config: Config,
  host: string,
  observation: DnsObservation,
): Promise<ServedCertificate | undefined> {
  const [address] = [...valuesOf(observation.ipv4), ...valuesOf(observation.ipv6)]
  if (address === undefined) return undefined
  const { protocol, port } = new URL(config.baseUrl)
  return probeCertificate({
    host,
    address,
    port: protocol === 'https:' && port !== '' ? Number(port) : 443,
    timeoutMs: HANDSHAKE_TIMEOUT_MS,
  })
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

/** Undefined where there is no instance yet. */
function findProofKey({ secretKey, dataDir }: Config): Buffer | undefined {
  const key = secretKey ?? loadSecretKey(dataDir)
  return key && deriveKey(key, 'domain-proof')
}

import type { Logger } from 'pino'
import { KeyVault } from '../../certificates/account-manager.ts'
import {
  Certificates,
  certificateStanding,
  isCertifiable,
} from '../../certificates/certificates.ts'
import type { CertificateFinder } from '../../domains/dns-lookup.ts'
import type { ServiceTarget } from '../../domains/dns-records.ts'
import { DomainChecks, LOOKUP_QUEUE } from '../../domains/domain-checks.ts'
import { Domains } from '../../domains/domains.ts'
import {
  type ClaimableHosts,
  claimableHosts,
  registeredDomainsOf,
  type ServiceHost,
  type ServiceName,
} from '../../hosts/claimable-hosts.ts'
import { hostFields } from '../../hosts/host.ts'
import type { QuotaBook } from '../../identity/quotas/quota-book.ts'
import { systemRandom } from '../../platform/crypto/random.ts'
import { CaresResolver } from '../../platform/dns/cares-resolver.ts'
import type { DnsResolver } from '../../platform/dns/dns-resolver.ts'
import { isUnavailable } from '../../platform/failure.ts'
import { isIpAddress } from '../../platform/network/ip-address.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { WorkQueues } from '../../platform/work/fair-queue.ts'
import { type Job, startPollingJob } from '../../platform/work/polling-job.ts'
import { hostChange } from '../../storage/changes.ts'
import type { WarmStartState } from '../../storage/coherent-cache.ts'
import { deriveKey } from '../../storage/instance-keys.ts'
import type { Config } from '../config/config.ts'
import type { FullStore } from '../database/stores.ts'
import type { Instance } from './instance.ts'

const DNS_TIMEOUT_MS = 2_000
const DNS_TRIES = 2
const DNS_DEADLINE_MS = 6_000
/** How often a node looks for checks that have become due, or that another process has requested. */
const CHECK_POLL_INTERVAL_MS = 2_000

/** The domains of an instance, and the checks of their DNS. */
export type DomainServices = {
  readonly domains: Domains
  readonly checks: DomainChecks
  /** Runs the due checks of all nodes, for as long as this node runs. */
  startChecking(): Job
}

/**
 * Changes nothing by itself, so the command line can open it beside a running service.
 *
 * @param options.isOperator whether reserved names may be claimed
 * @param options.queues the node's queues, for its metrics
 */
export function openDomains(
  config: Config,
  instance: { store: FullStore; clock: Clock; instanceKey: Buffer; quotas: QuotaBook },
  log: Logger,
  options: { isOperator?: boolean; queues?: WorkQueues } = {},
): DomainServices {
  const { store, clock, instanceKey, quotas } = instance
  const { isOperator = false, queues = new WorkQueues() } = options
  const claimable = claimableHostsOf(config, isOperator)
  let wake = () => {}
  const checks = new DomainChecks({
    store,
    clock,
    resolver: openResolver(config),
    policy: config.domainProof,
    proofKey: deriveKey(instanceKey, 'domain-proof'),
    target: serviceTargetOf(config),
    isReserved: claimable.isReserved,
    lookups: queues.open(LOOKUP_QUEUE),
    onError: (error) => log.warn({ err: error }, 'domain check failed'),
    findCertificate: certificateFinder(config, instance),
    onMove: (move) =>
      log.warn({ ...move, ...hostFields(move.host) }, 'domain moved to another workspace'),
    onSlotFree: () => wake(),
  })
  return {
    domains: new Domains({
      store,
      clock,
      random: systemRandom,
      serviceHost: serviceNameOf(config),
      claimable,
      proofPolicy: config.domainProof,
      quotas,
      onDue: () => wake(),
      onError: (error) => log.warn({ err: error }, 'domain proof failed'),
    }),
    checks,
    startChecking() {
      const job = startPollingJob({
        work: () => checks.startDue(),
        intervalMs: CHECK_POLL_INTERVAL_MS,
        message: 'domain check job failed',
        log,
        cancel: () => checks.cancel(),
      })
      wake = job.wake
      return {
        async stop() {
          await job.stop()
          await checks.settled()
        },
      }
    },
  }
}

/** Returns a function that finds the certificate state of a host; undefined when a proxy serves HTTPS. */
export function certificateFinder(
  config: Config,
  { store, clock }: { store: FullStore; clock: Clock },
): CertificateFinder | undefined {
  if (config.tls === undefined) return undefined
  const { directory } = config.acme
  return async (host) =>
    isCertifiable(host)
      ? certificateStanding(store.read, host, directory, clock.nowMicros())
      : undefined
}

export function openResolver(config: Pick<Config, 'dnsServers'>): DnsResolver {
  return new CaresResolver({
    servers: config.dnsServers,
    timeoutMs: DNS_TIMEOUT_MS,
    tries: DNS_TRIES,
    deadlineMs: DNS_DEADLINE_MS,
  })
}

/** Returns the name and the ports at which people reach the service. */
export function serviceNameOf(config: Pick<Config, 'baseUrl' | 'port' | 'tls'>): ServiceName {
  const url = new URL(config.baseUrl)
  const basePort = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)
  return {
    host: url.hostname.replace(/\.$/, ''),
    ports: new Set([80, 443, basePort, config.port, config.tls?.port ?? config.port]),
  }
}

/** Returns the service's own names. */
function serviceNamesOf(config: Config): readonly string[] {
  const { host } = serviceNameOf(config)
  return config.dnsTarget === undefined ? [host] : [host, config.dnsTarget]
}

/** @param isOperator whether reserved names may be claimed */
export function claimableHostsOf(config: Config, isOperator: boolean): ClaimableHosts {
  const serviceNames = serviceNamesOf(config)
  const ofService = config.domainProof === 'routing' ? registeredDomainsOf(serviceNames) : []
  return claimableHosts({
    serviceNames,
    reserved: config.reservedDomains ?? ofService,
    isOperator,
  })
}

/** Returns where domains must lead. A base URL that only this machine can reach gives no target host. */
export function serviceTargetOf(
  config: Pick<Config, 'baseUrl' | 'port' | 'tls' | 'dnsTarget' | 'publicAddresses'>,
): ServiceTarget {
  const { dnsTarget, publicAddresses } = config
  const host = serviceNameOf(config).host.replace(/^\[(.*)\]$/, '$1')
  if (isIpAddress(host)) {
    const addresses = publicAddresses.length > 0 || dnsTarget ? publicAddresses : [host]
    return { host: dnsTarget, addresses }
  }
  const isLocal = host === 'localhost' || host.endsWith('.localhost') || !host.includes('.')
  return { host: dnsTarget ?? (isLocal ? undefined : host), addresses: publicAddresses }
}

/** @param state kept by an earlier process, for a node that starts while the database is down */
export async function findServiceHost(
  config: Config,
  instance: Instance,
  state: WarmStartState | undefined,
): Promise<ServiceHost> {
  try {
    return await openServiceHost(config, instance)
  } catch (error) {
    const name = serviceNameOf(config)
    if (!isUnavailable(error) || state?.serviceHost !== name.host) throw error
    return { ...name, keyspaceId: state.serviceKeyspaceId }
  }
}

/** Opens the service's own host, whose name may have changed since the last start. */
export async function openServiceHost(config: Config, instance: Instance): Promise<ServiceHost> {
  const { store, clock } = instance
  const name = serviceNameOf(config)
  const { host } = name
  const keyspaceId = await store.write(async (stores) => {
    const shared = await stores.keyspaces.openShared(host)
    if (shared.movedFrom !== undefined) {
      await stores.changes.append(hostChange(shared.movedFrom), clock.nowMicros())
    }
    return shared.id
  })
  return { ...name, keyspaceId }
}

export function certificatesOf({ store, clock, instanceKey }: Instance): Certificates {
  const vault = new KeyVault(deriveKey(instanceKey, 'certificate-key'), systemRandom)
  return new Certificates({ store, vault, clock })
}

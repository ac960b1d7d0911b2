import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { KeyVault } from '../../certificates/account-manager.ts'
import { acmeAuthority } from '../../certificates/acme/acme-authority.ts'
import type { CertificateAuthority } from '../../certificates/certificate-authority.ts'
import { CertificateOrders } from '../../certificates/certificate-orders.ts'
import type { Certificates } from '../../certificates/certificates.ts'
import { type ChallengeAnswers, storedChallengeAnswers } from '../../certificates/challenges.ts'
import type { ServiceHost } from '../../hosts/claimable-hosts.ts'
import { hostFields } from '../../hosts/host.ts'
import type { ChangeListener } from '../../platform/changes/changes.ts'
import { systemRandom } from '../../platform/crypto/random.ts'
import { deriveKey } from '../../platform/instance/instance-keys.ts'
import { type Clock, formatInstant } from '../../platform/time/clock.ts'
import type { AcmeConfig, Config } from '../config/read-config.ts'
import { openResolver } from '../instance/domains.ts'
import type { Instance } from '../instance/instance.ts'
import { type Job, startPollingJob } from './polling-job.ts'

/** How often a node looks for due orders. */
const POLL_INTERVAL_MS = 2_000
/** How often it compares all hosts with their orders, in case a change was missed. */
const RECONCILE_INTERVAL_MICROS = 10 * 60 * 1_000_000

/** The certificate job of one node, for the service's host and all active domains. */
export type CertificateWork = {
  /** Answers to the challenges of all nodes' orders. */
  readonly answers: ChallengeAnswers
  /** Receives the changes of hosts. */
  readonly listener: ChangeListener
  /** Starts to order and renew certificates. */
  start(): Job
}

/** @throws when the file of `TERSE_ACME_CA_FILE` is missing or holds no certificate */
export function openCertificateWork(
  config: Config,
  instance: Instance,
  parts: { readonly certificates: Certificates; readonly serviceHost: ServiceHost },
  log: Logger,
): CertificateWork {
  const { store, clock, instanceKey } = instance
  const stopped = new AbortController()
  const changed = new Set<string>()
  let reconciledAt = Number.NEGATIVE_INFINITY
  let wake = () => {}
  const resolver = openResolver(config)
  const orders = new CertificateOrders({
    store,
    clock,
    resolver,
    authority: openAuthority(config.acme, clock),
    certificates: parts.certificates,
    keyVault: new KeyVault(deriveKey(instanceKey, 'certificate-key'), systemRandom),
    accountVault: new KeyVault(deriveKey(instanceKey, 'acme-account'), systemRandom),
    challenges: config.acme.challenges,
    serviceHost: parts.serviceHost.host,
    wait: (ms) => sleep(ms, undefined, { signal: stopped.signal }).catch(() => {}),
    random: Math.random,
    onIssued: (host, notAfter) =>
      log.info({ ...hostFields(host), until: formatInstant(notAfter) }, 'certificate issued'),
    onFailed: (host, reason) =>
      log.warn({ ...hostFields(host), reason }, 'certificate order failed'),
    onUnavailable: (directory, reason) =>
      log.warn({ directory, reason }, 'certificate authority paused'),
    onRoom: () => wake(),
    onError: (error) => log.error({ err: error }, 'unexpected error in a certificate order'),
  })

  async function work(): Promise<void> {
    if (clock.nowMicros() - reconciledAt > RECONCILE_INTERVAL_MICROS) {
      reconciledAt = clock.nowMicros()
      await orders.reconcileAll()
    }
    const hosts = [...changed]
    changed.clear()
    await orders.reconcile(hosts)
    await orders.startDue()
  }

  return {
    answers: storedChallengeAnswers(store.read.certificateOrders, clock),
    listener: {
      apply(changes) {
        const hosts = changes.filter(({ kind }) => kind === 'host')
        for (const { subject } of hosts) changed.add(subject)
        if (hosts.length > 0) wake()
      },
      forgetAll() {
        reconciledAt = Number.NEGATIVE_INFINITY
        wake()
      },
      forgetAbsences() {},
    },
    start() {
      const job = startPollingJob({
        work,
        intervalMs: POLL_INTERVAL_MS,
        message: 'certificate job failed',
        log,
        cancel() {
          stopped.abort()
          resolver.cancel()
          orders.cancel()
        },
      })
      wake = job.wake
      return {
        async stop() {
          await job.stop()
          await orders.settled()
        },
      }
    },
  }
}

/** @throws when the file of `TERSE_ACME_CA_FILE` is missing or holds no certificate */
export function openAuthority(acme: AcmeConfig, clock: Clock): CertificateAuthority {
  const { directory, email, external, profile } = acme
  return acmeAuthority({ directory, email, external, profile, trusted: trustedBy(acme), clock })
}

function trustedBy({ caFile }: AcmeConfig): readonly string[] | undefined {
  if (caFile === undefined) return undefined
  try {
    const pem = readFileSync(caFile, 'utf8')
    new X509Certificate(pem)
    return [pem]
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`TERSE_ACME_CA_FILE holds no certificate (${reason})`)
  }
}

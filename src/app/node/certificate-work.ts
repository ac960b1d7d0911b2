import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { acmeAuthority } from '../../certificates/acme/acme-authority.ts'
import { storedChallengeAnswers } from '../../certificates/acme/stored-challenge-answers.ts'
import type { CertificateAuthority } from '../../certificates/certificate-authority.ts'
import { CertificateOrders } from '../../certificates/certificate-orders.ts'
import type { Certificates } from '../../certificates/certificates.ts'
import type { ChallengeAnswers } from '../../certificates/challenge-answers.ts'
import { KeyVault } from '../../certificates/key-vault.ts'
import { hostFields } from '../../hosts/host.ts'
import type { ServiceHost } from '../../hosts/service-host.ts'
import type { ChangeListener } from '../../platform/changes/change-listener.ts'
import { systemRandom } from '../../platform/crypto/random.ts'
import { deriveKey } from '../../platform/instance/instance-keys.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { formatInstant } from '../../platform/time/instant.ts'
import type { AcmeConfig, Config } from '../config/read-config.ts'
import { openResolver } from '../instance/domains.ts'
import type { Instance } from '../instance/instance.ts'
import { type Job, startPollingJob } from './polling-job.ts'

/** How often a node looks for orders that have become due, or that others have left. */
const POLL_INTERVAL_MS = 2_000
/** How often it looks at all hosts, for what no change has told of. */
const RECONCILE_INTERVAL_MICROS = 10 * 60 * 1_000_000

/** Certificates from an authority, for the service's host and all active domains. */
export type CertificateWork = {
  /** Of every node's orders. */
  readonly answers: ChallengeAnswers
  /** To be told of hosts that have changed. */
  readonly listener: ChangeListener
  /** Sees to certificates for as long as this node runs. */
  start(): Job
}

/** @throws where the file of `TERSE_ACME_CA_FILE` is not there, or holds no certificates */
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
      log.info({ ...hostFields(host), until: formatInstant(notAfter) }, 'a certificate was issued'),
    onFailed: (host, reason) =>
      log.warn(
        { ...hostFields(host), reason },
        'a certificate could not be had now; it is tried again',
      ),
    onUnavailable: (directory, reason) =>
      log.warn({ directory, reason }, 'the certificate authority is left alone for a while'),
    onRoom: () => wake(),
    onError: (error) => log.error({ err: error }, 'a certificate could not be ordered now'),
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
        message: 'certificates could not be looked after now',
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

/** @throws where the file of `TERSE_ACME_CA_FILE` is not there, or holds no certificates */
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
    throw new Error(`TERSE_ACME_CA_FILE names no certificates (${reason})`)
  }
}

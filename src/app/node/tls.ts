import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Server } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { KeyVault } from '../../certificates/account-manager.ts'
import { acmeAuthority } from '../../certificates/acme/acme-authority.ts'
import type { CertificateAuthority } from '../../certificates/certificate-authority.ts'
import { CertificateOrders } from '../../certificates/certificate-orders.ts'
import type { Certificates } from '../../certificates/certificates.ts'
import { type ChallengeAnswers, storedChallengeAnswers } from '../../certificates/challenges.ts'
import { HttpsUpgrade } from '../../certificates/tls/https-upgrade.ts'
import { SecureContexts } from '../../certificates/tls/secure-contexts.ts'
import { TlsListener } from '../../certificates/tls/tls-listener.ts'
import type { ServiceHost } from '../../hosts/claimable-hosts.ts'
import { hostFields } from '../../hosts/host.ts'
import { systemRandom } from '../../platform/crypto/random.ts'
import { createHttp2Front, type Http2Front } from '../../platform/http/http2-front.ts'
import type { PlainHttp } from '../../platform/http/plain-http.ts'
import { type Clock, formatInstant } from '../../platform/time/clock.ts'
import { type Job, startPollingJob } from '../../platform/work/polling-job.ts'
import type { ChangeListener } from '../../storage/changes.ts'
import type { WarmStart } from '../../storage/coherent-cache.ts'
import { deriveKey } from '../../storage/instance-keys.ts'
import { certificatesOf, openResolver } from '../composition/domains.ts'
import type { Instance } from '../composition/instance.ts'
import type { AcmeConfig, Config } from '../config/config.ts'
import type { HttpsCaches } from './caches.ts'
import type { ConnectionGuard } from './connection-guard.ts'

/** HTTPS of one node. */
export type Tls = {
  /** The caches of certificates. */
  readonly caches: HttpsCaches
  readonly plain: PlainHttp
  /** Orders and renews certificates. Call it once this node listens, because authorities connect to it. */
  readonly startOrdering: CertificateWork['start']
  /** Opens the TLS entrances for a front that answers their requests. */
  open(
    front: Server,
    guard: ConnectionGuard,
  ): { readonly listener: TlsListener; readonly http2: Http2Front }
}

/**
 * Load this module only when the service serves HTTPS itself: loading takes a while.
 *
 * @param parts.warmStart keeps the cached certificates for a later process
 */
export function openTls(
  config: Config,
  instance: Instance,
  parts: { readonly serviceHost: ServiceHost; readonly warmStart: WarmStart },
  log: Logger,
): Tls {
  const { store, clock } = instance
  const { serviceHost, warmStart } = parts
  const certificates = certificatesOf(instance)
  const work = openCertificateWork(config, instance, { certificates, serviceHost }, log)
  const contexts = new SecureContexts({
    find: (host) => store.read.certificates.find(host),
    open: (sealed) => certificates.open(sealed),
    warmStart,
    onError: (error) => log.warn({ err: error }, 'certificate load failed'),
    onUnusable: (host, error) =>
      log.warn({ ...hostFields(host), err: error }, 'kept certificate cannot be used'),
  })
  const upgrade = new HttpsUpgrade({
    findLife: async (host) =>
      contexts.findLife(host) ?? (await store.read.certificates.findLife(host)),
    clock,
    port: new URL(config.baseUrl).port,
  })
  return {
    caches: {
      listeners: [contexts, upgrade, work.listener],
      restore: () => contexts.restore(),
    },
    plain: {
      locationOf: (target) => upgrade.locationOf(target),
      findChallenge: work.answers.findHttp,
    },
    startOrdering: work.start,
    open(front, { connections, noteMalformed }) {
      const http2 = createHttp2Front(front, { connections, onError: noteMalformed })
      const listener = new TlsListener({
        contexts,
        challenges: work.answers,
        // A visit to a link is one request, for which HTTP/2 only costs more.
        prefersHttp2: (host) => host === serviceHost.host,
        accept: (socket) => connections.accept(socket),
        onHttp1(socket, raw) {
          connections.secure(raw, socket)
          front.emit('connection', socket)
        },
        onHttp2(socket, raw) {
          connections.secure(raw, socket)
          http2.take(socket)
        },
        onHandshakeError: noteMalformed,
      })
      return { listener, http2 }
    },
  }
}

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

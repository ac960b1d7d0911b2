import type { Server } from 'node:http'
import type { Logger } from 'pino'
import { HttpsUpgrade } from '../../certificates/tls/https-upgrade.ts'
import { SecureContexts } from '../../certificates/tls/secure-contexts.ts'
import { TlsListener } from '../../certificates/tls/tls-listener.ts'
import type { ServiceHost } from '../../hosts/claimable-hosts.ts'
import { hostFields } from '../../hosts/host.ts'
import type { WarmStart } from '../../platform/cache/coherent-cache.ts'
import { createHttp2Front, type Http2Front } from '../../platform/http/http2-front.ts'
import type { PlainHttp } from '../../platform/http/plain-http.ts'
import type { Config } from '../config/read-config.ts'
import { certificatesOf } from '../instance/certificates.ts'
import type { Instance } from '../instance/instance.ts'
import type { HttpsCaches } from './caches.ts'
import { type CertificateWork, openCertificateWork } from './certificate-work.ts'
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

import type { Server } from 'node:http'
import type { Logger } from 'pino'
import type { Config } from '../config/read-config.ts'
import type { ChangeListener } from '../domain/changes/change-listener.ts'
import type { ServiceHost } from '../domain/domains/service-host.ts'
import { createHttp2Front, type Http2Front } from '../http/http2-front.ts'
import type { PlainHttp } from '../http/plain-http.ts'
import { HttpsUpgrade } from '../tls/https-upgrade.ts'
import { SecureContexts } from '../tls/secure-contexts.ts'
import { createTlsListener, type TlsListener } from '../tls/tls-listener.ts'
import { type CertificateWork, openCertificateWork } from './certificate-work.ts'
import { certificatesOf } from './certificates.ts'
import type { Instance } from './instance.ts'

/** HTTPS of one node. */
export type Tls = {
  /** What it has in memory of certificates. */
  readonly memory: readonly ChangeListener[]
  readonly plain: PlainHttp
  /** Gets certificates and renews them: once this node listens, because authorities ask it back. */
  readonly startOrdering: CertificateWork['start']
  /** The entrances for a front that answers what comes in by them. */
  open(front: Server): { readonly listener: TlsListener; readonly http2: Http2Front }
}

/** To be loaded where HTTPS is this service's work alone: it takes a while. */
export function openTls(
  config: Config,
  instance: Instance,
  serviceHost: ServiceHost,
  log: Logger,
): Tls {
  const { store, clock } = instance
  const certificates = certificatesOf(instance)
  const { find } = certificates
  const work = openCertificateWork(config, instance, { certificates, serviceHost }, log)
  const contexts = new SecureContexts({
    find,
    onError: (error) => log.warn({ err: error }, 'a certificate cannot be loaded'),
  })
  const upgrade = new HttpsUpgrade({
    findLife: (host) => store.read.certificates.findLife(host),
    clock,
    port: new URL(config.baseUrl).port,
  })
  return {
    memory: [contexts, upgrade, work.listener],
    plain: {
      locationOf: (target) => upgrade.locationOf(target),
      findChallenge: work.answers.findHttp,
    },
    startOrdering: work.start,
    open(front) {
      const http2 = createHttp2Front(front)
      const listener = createTlsListener({
        contexts,
        challenges: work.answers,
        // A visit to a link is one request, which HTTP/2 only makes dearer.
        prefersHttp2: (host) => host === serviceHost.host,
        onHttp1: (socket) => front.emit('connection', socket),
        onHttp2: http2.take,
      })
      return { listener, http2 }
    },
  }
}

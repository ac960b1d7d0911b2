import type { Server } from 'node:http'
import type { Logger } from 'pino'
import type { Config } from '../config/read-config.ts'
import { type Certificates, certificates } from '../domain/certificates/certificates.ts'
import { keyVault } from '../domain/certificates/key-vault.ts'
import type { ChangeListener } from '../domain/changes/change-listener.ts'
import type { ServiceHost } from '../domain/domains/service-host.ts'
import { deriveKey } from '../domain/instance/instance-keys.ts'
import { createHttp2Front, type Http2Front } from '../http/http2-front.ts'
import type { PlainHttp } from '../http/plain-http.ts'
import { systemRandom } from '../lib/random.ts'
import { HttpsUpgrade } from '../tls/https-upgrade.ts'
import { SecureContexts } from '../tls/secure-contexts.ts'
import { createTlsListener, type TlsListener } from '../tls/tls-listener.ts'
import type { CertificateWork } from './certificate-work.ts'
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

export function certificatesOf({ store, clock, instanceKey }: Instance): Certificates {
  const vault = keyVault(deriveKey(instanceKey, 'certificate-key'), systemRandom)
  return certificates({ store, vault, clock })
}

/** Undefined where HTTPS is somebody else's work. */
export async function openTls(
  config: Config,
  instance: Instance,
  serviceHost: ServiceHost,
  log: Logger,
): Promise<Tls | undefined> {
  if (config.tls === undefined) return undefined
  const { store, clock } = instance
  // Who leaves HTTPS to others need not wait until all of this is loaded.
  const { openCertificateWork } = await import('./certificate-work.ts')
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

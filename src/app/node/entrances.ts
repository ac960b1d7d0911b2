import type { RequestListener } from 'node:http'
import type { AddressInfo, BoundSocket, Server } from 'node:net'
import { isServicePath } from '../../links/key.ts'
import type { LinkHost } from '../../links/store/link-directory.ts'
import {
  createFront,
  createInternalServer,
  type InternalHandlers,
} from '../../platform/http/front.ts'
import {
  acceptorEntrance,
  createAcceptor,
  entranceOf,
  type FrontEntrance,
  stopFront,
} from '../../platform/http/front-server.ts'
import { isServiceHost } from '../../platform/http/request-target.ts'
import { answerElsewhere } from '../../redirects/exchange.ts'
import type { LinkFinder } from '../../redirects/find-link.ts'
import type { RedirectHandler } from '../../redirects/handler.ts'
import type { AppContext } from '../composition/instance.ts'
import { type ListeningUse, listeningPlaces } from '../processes/listening-sockets.ts'
import type { ConnectionGuard } from './connection-guard.ts'
import type { Tls } from './tls.ts'

/** A socket that is bound to its port. */
export type ListeningHandle = BoundSocket | { readonly fd: number }

/** All servers and sockets through which requests arrive. */
export type Entrances = {
  /**
   * Settles when all of them are open.
   *
   * @param handles the sockets of each of the `listeningPlaces`, in their order; when left out, the ports
   *   are opened here
   * @throws when a port is in use
   */
  listen(handles?: readonly (readonly ListeningHandle[])[]): Promise<void>
  /** Returns the port of plain HTTP, once it is open. */
  port(): number
  /** As `stopFront`. */
  stop(idleGraceMs: number): Promise<void>
}

/** @param parts.tls undefined when the service does not serve HTTPS itself */
export function openEntrances(
  { config, serviceHost }: AppContext,
  parts: {
    readonly finder: LinkFinder
    readonly redirect: RedirectHandler
    readonly api: RequestListener
    readonly tls: Tls | undefined
    readonly guard: ConnectionGuard
  },
): Entrances {
  const { finder, redirect, tls, guard } = parts
  const redirects = config.roles.includes('redirect')
  const internal: InternalHandlers = {
    isServed: (host) => host === serviceHost.host || isKnown(finder.findHost(host)),
  }
  const hasOwnInternal = config.internalListen !== undefined
  const front = createFront({
    isForApi: ({ host, path }) => isServiceHost(host, serviceHost.host) && isServicePath(path),
    api: parts.api,
    redirect: redirects ? redirect.request : answerElsewhere,
    fastRedirect: redirects && config.fastRedirects ? redirect.visit : undefined,
    trustedProxies: config.trustedProxies,
    hstsSeconds: config.hstsSeconds,
    plain: tls?.plain,
    internal: hasOwnInternal ? undefined : internal,
    connections: guard.connections,
    onMalformed: guard.noteMalformed,
  })
  const internalServer = hasOwnInternal ? createInternalServer(internal) : undefined
  const https = tls?.open(front, guard)
  const servers: Readonly<Record<ListeningUse, Server | undefined>> = {
    plain: front,
    https: https?.listener.server,
    internal: internalServer,
  }
  const others: FrontEntrance[] = [
    ...(https === undefined ? [] : [https.listener, https.http2]),
    ...(internalServer === undefined ? [] : [entranceOf(internalServer)]),
  ]

  return {
    async listen(handles) {
      for (const [index, { use, host, port }] of listeningPlaces(config).entries()) {
        const server = servers[use]
        if (server === undefined) continue
        const [first = { host, port }, ...more] = handles?.[index] ?? []
        await open(server, first, port)
        for (const handle of more) {
          const acceptor = createAcceptor(server, { allowHalfOpen: use !== 'https' })
          others.push(acceptorEntrance(acceptor))
          await open(acceptor, handle, port)
        }
      }
    },
    port: () => (front.address() as AddressInfo).port,
    stop: (idleGraceMs) => stopFront(front, idleGraceMs, others),
  }
}

async function open(
  server: Server,
  place: ListeningHandle | { readonly host: string | undefined; readonly port: number },
  port: number,
): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    // The error of a socket that was bound elsewhere does not name the port.
    server.once('error', (error) => reject(Object.assign(error, { port })))
    server.listen(place, resolve)
  })
}

function isKnown(host: LinkHost | undefined | Promise<LinkHost | undefined>) {
  return host instanceof Promise ? host.then((loaded) => loaded !== undefined) : host !== undefined
}

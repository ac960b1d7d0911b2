import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import {
  createSecureContext,
  createServer,
  type SecureContext,
  type Server,
  type TLSSocket,
} from 'node:tls'
import { parseHost } from '../../platform/http/request-target.ts'
import type { ChallengeAnswers } from '../challenge-answers.ts'
import type { SecureContexts } from './secure-contexts.ts'

const HANDSHAKE_TIMEOUT_MS = 10_000
/** How long a key seals the tickets with which clients resume sessions: no recording outlives it by much. */
const TICKET_KEY_LIFETIME_MS = 24 * 60 * 60 * 1_000
const TICKET_KEY_BYTES = 48

/** The protocol of the challenge `tls-alpn-01` (RFC 8737, section 4). */
const CHALLENGE_PROTOCOL = 'acme-tls/1'

/** Accepts connections for HTTPS, each with the certificate of the host that it asks for. */
export type TlsListener = {
  readonly server: Server
  /** Accepts no more; settles when no connection is left. */
  close(): Promise<void>
  /** Ends the connections that have not come to HTTP yet. */
  closeIdle(): void
  closeAll(): void
}

/**
 * A name without a certificate, and a client that tells none, gets a handshake failure: no host's
 * certificate is shown for another.
 *
 * @param options.prefersHttp2 whether a client that speaks both gets HTTP/2 on this host
 * @param options.accept false for a connection that is refused, and closed already
 * @param options.onHttp1 takes over a connection on which HTTP/1.1 will be spoken, and the TCP connection under it
 * @param options.onHandshakeError called for a handshake that failed
 */
export function createTlsListener(options: {
  contexts: SecureContexts
  challenges: Pick<ChallengeAnswers, 'findAlpn'>
  prefersHttp2: (host: string) => boolean
  accept?: (socket: Socket) => boolean
  onHttp1: (socket: TLSSocket, raw: Socket | undefined) => void
  onHttp2: (socket: TLSSocket, raw: Socket | undefined) => void
  onHandshakeError?: (error: Error) => void
}): TlsListener {
  const { contexts, challenges } = options
  const challenged = new WeakSet<TLSSocket>()
  const connections = new Map<string, { readonly socket: Socket; isSecure: boolean }>()

  /** In TLS 1.3, which challenges are answered in, this comes before the choice of a certificate. */
  function chooseProtocol(
    this: TLSSocket,
    { servername, protocols }: { servername: string | false; protocols: string[] },
  ): string | undefined {
    if (protocols.includes(CHALLENGE_PROTOCOL)) {
      challenged.add(this)
      return CHALLENGE_PROTOCOL
    }
    // Node says false of a client that tells no name, whatever its types say.
    const host = servername === false ? undefined : parseHost(servername)
    const preferred =
      host !== undefined && options.prefersHttp2(host) ? ['h2', 'http/1.1'] : ['http/1.1', 'h2']
    return preferred.find((protocol) => protocols.includes(protocol))
  }

  function chooseCertificate(
    this: TLSSocket,
    servername: string,
    done: (error: Error | null, context?: SecureContext) => void,
  ): void {
    const host = parseHost(servername)
    const found =
      host === undefined
        ? undefined
        : challenged.has(this)
          ? findChallenge(challenges, host)
          : contexts.get(host)
    if (found instanceof Promise) {
      found.then(
        (context) => done(null, context),
        // Certificates report it themselves; of a challenge the authority tells that it failed.
        () => done(null, undefined),
      )
    } else {
      done(null, found)
    }
  }

  const server = createServer({
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    noDelay: true,
    ALPNCallback: chooseProtocol,
    SNICallback: chooseCertificate,
  })
  // Node's listener for connections is where the handshake begins.
  const toNode = server.listeners('connection') as ((socket: Socket) => void)[]
  server.removeAllListeners('connection')
  server.on('connection', (socket) => {
    if (options.accept?.(socket) === false) return
    const name = nameOf(socket)
    connections.set(name, { socket, isSecure: false })
    socket.once('close', () => {
      // The next one from the same port may have come already.
      if (connections.get(name)?.socket === socket) connections.delete(name)
    })
    for (const listener of toNode) listener.call(server, socket)
  })
  server.on('secureConnection', (socket) => {
    const connection = connections.get(nameOf(socket))
    if (connection !== undefined) connection.isSecure = true
    if (socket.alpnProtocol === CHALLENGE_PROTOCOL) {
      socket.on('error', () => {})
      socket.end()
    } else if (socket.alpnProtocol === 'h2') options.onHttp2(socket, connection?.socket)
    else options.onHttp1(socket, connection?.socket)
  })
  // What was no handshake, or failed at it, has been cut off.
  server.on('tlsClientError', (error) => options.onHandshakeError?.(error))
  server.on('listening', () => {
    const renewing = setInterval(() => {
      server.setTicketKeys(randomBytes(TICKET_KEY_BYTES))
    }, TICKET_KEY_LIFETIME_MS).unref()
    server.once('close', () => clearInterval(renewing))
  })

  function destroy(isMeant: (isSecure: boolean) => boolean): void {
    for (const { socket, isSecure } of connections.values()) {
      if (isMeant(isSecure)) socket.destroy()
    }
  }

  return {
    server,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
      }),
    closeIdle: () => destroy((isSecure) => !isSecure),
    closeAll: () => destroy(() => true),
  }
}

async function findChallenge(
  challenges: Pick<ChallengeAnswers, 'findAlpn'>,
  host: string,
): Promise<SecureContext | undefined> {
  const answer = await challenges.findAlpn(host)
  return answer && createSecureContext({ cert: answer.chainPem, key: answer.keyPem })
}

/** The same for a connection before and after its handshake, which Node shows as two sockets. */
function nameOf({ remoteAddress, remotePort, localAddress }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress}`
}

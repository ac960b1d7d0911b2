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
import type { ChallengeAnswers } from '../challenges.ts'
import type { SecureContexts } from './secure-contexts.ts'

const HANDSHAKE_TIMEOUT_MS = 10_000
/**
 * How long one key encrypts session tickets, and so protects the sessions that were resumed with
 * it.
 */
const TICKET_KEY_LIFETIME_MS = 24 * 60 * 60 * 1_000
const TICKET_KEY_BYTES = 48

/** The ALPN protocol of the challenge `tls-alpn-01` (RFC 8737, section 4). */
const CHALLENGE_PROTOCOL = 'acme-tls/1'

export type TlsListenerOptions = {
  readonly contexts: SecureContexts
  readonly challenges: Pick<ChallengeAnswers, 'findAlpn'>
  /** Whether a client that supports both protocols gets HTTP/2 on this host. */
  readonly prefersHttp2: (host: string) => boolean
  /** Returns false for a connection that it has refused and closed. */
  readonly accept?: (socket: Socket) => boolean
  /** Takes over a connection for HTTP/1.1, and the TCP connection under it. */
  readonly onHttp1: (socket: TLSSocket, raw: Socket | undefined) => void
  readonly onHttp2: (socket: TLSSocket, raw: Socket | undefined) => void
  /** Called for each handshake that failed; its connection is closed already. */
  readonly onHandshakeError?: (error: Error) => void
}

/**
 * Accepts TLS connections, each with the certificate of the host that the client names. The handshake
 * fails for a client that names none, and for a host without a certificate.
 */
export class TlsListener {
  readonly server: Server
  readonly #options: TlsListenerOptions
  /** Connections that negotiated the challenge protocol. */
  readonly #challenged = new WeakSet<TLSSocket>()
  readonly #connections = new Map<string, { readonly socket: Socket; isSecure: boolean }>()

  constructor(options: TlsListenerOptions) {
    this.#options = options
    const chooseProtocol = this.#chooseProtocol.bind(this)
    const chooseCertificate = this.#chooseCertificate.bind(this)
    this.server = createServer({
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      noDelay: true,
      // Node.js passes the connection as `this`.
      ALPNCallback(this: TLSSocket, hello) {
        return chooseProtocol(this, hello)
      },
      SNICallback(this: TLSSocket, servername, done) {
        chooseCertificate(this, servername, done)
      },
    })
    this.#interceptConnections()
    this.server.on('secureConnection', (socket) => this.#handOver(socket))
    this.server.on('tlsClientError', (error) => options.onHandshakeError?.(error))
    this.server.on('listening', () => this.#rotateTicketKeys())
  }

  /** Stops accepting connections; settles when none is left. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.server.close(() => resolve())
    })
  }

  /** Closes the connections whose handshake is not finished. */
  closeIdle(): void {
    for (const { socket, isSecure } of this.#connections.values()) if (!isSecure) socket.destroy()
  }

  closeAll(): void {
    for (const { socket } of this.#connections.values()) socket.destroy()
  }

  /** Runs before Node.js starts the handshake, which its own listener for `connection` does. */
  #interceptConnections(): void {
    const { server } = this
    const nodeListeners = server.listeners('connection') as ((socket: Socket) => void)[]
    server.removeAllListeners('connection')
    server.on('connection', (socket) => {
      if (this.#options.accept?.(socket) === false) return
      const key = connectionKey(socket)
      this.#connections.set(key, { socket, isSecure: false })
      socket.once('close', () => {
        // The next connection from the same port may have replaced this one.
        if (this.#connections.get(key)?.socket === socket) this.#connections.delete(key)
      })
      for (const listener of nodeListeners) listener.call(server, socket)
    })
  }

  /** Called before `#chooseCertificate` in TLS 1.3, which challenges use. */
  #chooseProtocol(
    socket: TLSSocket,
    { servername, protocols }: { servername: string | false; protocols: string[] },
  ): string | undefined {
    if (protocols.includes(CHALLENGE_PROTOCOL)) {
      this.#challenged.add(socket)
      return CHALLENGE_PROTOCOL
    }
    // Despite its types, Node.js passes false for a client that names no host.
    const host = servername === false ? undefined : parseHost(servername)
    const preferred =
      host !== undefined && this.#options.prefersHttp2(host)
        ? ['h2', 'http/1.1']
        : ['http/1.1', 'h2']
    return preferred.find((protocol) => protocols.includes(protocol))
  }

  #chooseCertificate(
    socket: TLSSocket,
    servername: string,
    done: (error: Error | null, context?: SecureContext) => void,
  ): void {
    const found = this.#findContext(socket, parseHost(servername))
    if (found instanceof Promise) {
      found.then(
        (context) => done(null, context),
        // `SecureContexts` reports its own errors; the authority reports a failed challenge.
        () => done(null, undefined),
      )
    } else {
      done(null, found)
    }
  }

  #findContext(
    socket: TLSSocket,
    host: string | undefined,
  ): SecureContext | undefined | Promise<SecureContext | undefined> {
    const { contexts, challenges } = this.#options
    if (host === undefined) return undefined
    return this.#challenged.has(socket) ? findChallenge(challenges, host) : contexts.get(host)
  }

  /** Passes a connection on to HTTP once its handshake is finished. */
  #handOver(socket: TLSSocket): void {
    const connection = this.#connections.get(connectionKey(socket))
    if (connection !== undefined) connection.isSecure = true
    if (socket.alpnProtocol === CHALLENGE_PROTOCOL) {
      socket.on('error', () => {})
      socket.end()
    } else if (socket.alpnProtocol === 'h2') {
      this.#options.onHttp2(socket, connection?.socket)
    } else {
      this.#options.onHttp1(socket, connection?.socket)
    }
  }

  #rotateTicketKeys(): void {
    const rotation = setInterval(() => {
      this.server.setTicketKeys(randomBytes(TICKET_KEY_BYTES))
    }, TICKET_KEY_LIFETIME_MS).unref()
    this.server.once('close', () => clearInterval(rotation))
  }
}

async function findChallenge(
  challenges: Pick<ChallengeAnswers, 'findAlpn'>,
  host: string,
): Promise<SecureContext | undefined> {
  const answer = await challenges.findAlpn(host)
  return answer && createSecureContext({ cert: answer.chainPem, key: answer.keyPem })
}

/** Identifies a connection before and after its handshake, when Node.js uses two socket objects. */
function connectionKey({ remoteAddress, remotePort, localAddress }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress}`
}

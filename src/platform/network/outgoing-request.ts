import {
  type ClientRequestArgs,
  Agent as HttpAgent,
  type IncomingHttpHeaders,
  type RequestOptions,
  request as requestHttp,
} from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import type { Duplex } from 'node:stream'
import { type AddressGuard, checkedLookup, RefusedAddressError } from '../dns/checked-lookup.ts'
import { isIpAddress } from './ip-address.ts'

/** Through which `node:http` and `node:https` connect. */
export type Agents = { readonly http: HttpAgent; readonly https: HttpsAgent }

type Connected = (error: Error | null, stream: Duplex) => void

/** Returns agents that keep connections open and connect only to addresses that the guard allows. */
export function guardedAgents(guard: AddressGuard): Agents {
  const options = { keepAlive: true, lookup: checkedLookup(guard) }
  const http = new HttpAgent(options)
  const https = new HttpsAgent(options)
  for (const agent of [http, https]) refuseAddresses(agent, guard)
  return { http, https }
}

/** Closes their connections; requests in progress fail. */
export function closeAgents({ http, https }: Agents): void {
  http.destroy()
  https.destroy()
}

/** Checks hosts that are IP addresses, for which Node.js resolves nothing. */
function refuseAddresses(agent: HttpAgent, guard: AddressGuard): void {
  const connect = agent.createConnection.bind(agent)
  agent.createConnection = (options: ClientRequestArgs, callback?: Connected) => {
    const host = options.host ?? ''
    if (!isIpAddress(host) || guard(host)) return connect(options, callback)
    callback?.(new RefusedAddressError(host), undefined as unknown as Duplex)
    return null
  }
}

export type OutgoingRequest = {
  readonly method: 'GET' | 'HEAD' | 'POST'
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
  /** From the start of the request to the end of the answer. */
  readonly timeoutMs: number
  /** 0 for a caller that needs no body: it is not read. */
  readonly bodyBytesMax: number
  /** Whether the beginning is enough of a longer body. */
  readonly isCutOff?: boolean
  readonly signal: AbortSignal
  /**
   * Whether it is sent again when the other side closed a connection that was kept open, which it may do just then. It
   * may have read the request.
   */
  readonly isRepeatable?: boolean
  /** Connects to this place instead of the URL's host, which stays in the request and in TLS. */
  readonly connectTo?: { readonly host: string; readonly port: number } | undefined
}

export type OutgoingAnswer = {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** An answer that is longer than the caller takes. */
export class AnswerTooLongError extends Error {
  override readonly name = 'AnswerTooLongError'
}

/** A kept connection that was closed before an answer. */
class StaleConnectionError extends Error {
  override readonly name = 'StaleConnectionError'
}

/** Connections that were kept for as long are closed together. */
const STALE_CONNECTIONS_MAX = 3

/**
 * Sends an HTTP request and returns the whole answer. Follows no redirect.
 *
 * @throws {AnswerTooLongError}
 */
export async function sendRequest(
  agents: Agents,
  outgoing: OutgoingRequest,
): Promise<OutgoingAnswer> {
  for (let stale = 0; ; stale += 1) {
    try {
      return await sendOnce(agents, outgoing)
    } catch (error) {
      if (!(error instanceof StaleConnectionError)) throw error
      if (outgoing.isRepeatable !== true || stale === STALE_CONNECTIONS_MAX) throw error.cause
    }
  }
}

function sendOnce(agents: Agents, outgoing: OutgoingRequest): Promise<OutgoingAnswer> {
  const { url, connectTo, bodyBytesMax } = outgoing
  const isTls = url.protocol === 'https:'
  const options: RequestOptions & { servername?: string } = {
    method: outgoing.method,
    agent: isTls ? agents.https : agents.http,
    headers: { ...outgoing.headers, host: url.host },
    signal: AbortSignal.any([outgoing.signal, AbortSignal.timeout(outgoing.timeoutMs)]),
    ...(connectTo && { hostname: connectTo.host, port: connectTo.port }),
    // An IP address is no server name (RFC 6066, section 3).
    ...(isTls &&
      !isIpAddress(url.hostname.replace(/^\[|\]$/g, '')) && { servername: url.hostname }),
  }
  const { promise, resolve, reject } = Promise.withResolvers<OutgoingAnswer>()
  const request = isTls ? requestHttps(url, options) : requestHttp(url, options)
  request.on('error', (error: NodeJS.ErrnoException) => {
    const isStale = request.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE')
    reject(isStale ? new StaleConnectionError('closed', { cause: error }) : error)
  })
  request.on('response', (response) => {
    const { statusCode: status = 0, headers } = response
    response.on('error', reject)
    if (bodyBytesMax === 0) {
      resolve({ status, headers, body: Buffer.alloc(0) })
      // The answer to HEAD has no body: its connection stays open.
      if (outgoing.method === 'HEAD') response.resume()
      else response.destroy()
      return
    }
    const chunks: Buffer[] = []
    let bytes = 0
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes <= bodyBytesMax) {
        chunks.push(chunk)
      } else if (outgoing.isCutOff === true) {
        resolve({ status, headers, body: Buffer.concat([...chunks, chunk], bodyBytesMax) })
        response.destroy()
      } else {
        response.destroy(new AnswerTooLongError('the answer is too long'))
      }
    })
    response.on('end', () => resolve({ status, headers, body: Buffer.concat(chunks) }))
  })
  request.end(outgoing.body)
  return promise
}

import { randomUUID } from 'node:crypto'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Networks } from '../network/ip-address.ts'
import { problem } from './api/problem.ts'
import { arrivedSecurely } from './arrived-securely.ts'
import type { Connections } from './connections/connections.ts'
import type { FastExchange } from './fast/fast-exchange.ts'
import { createFrontServer, isHttp2 } from './front-server.ts'
import {
  answerInternal,
  type InternalHandlers,
  isFromThisMachine,
  isInternalPath,
} from './internal.ts'
import { answerPlain, isChallengePath, type PlainHttp, redirectToHttps } from './plain-http.ts'
import { parseRequestTarget, type RequestTarget } from './request-target.ts'

export type FrontHandlers = {
  /** Whether the service itself answers this target; every other target is a visit to a link. */
  readonly isForApi: (target: RequestTarget) => boolean
  readonly api: (request: IncomingMessage, response: ServerResponse) => void
  readonly redirect: (
    request: IncomingMessage,
    response: ServerResponse,
    target: RequestTarget,
  ) => void
  /** Answers simple visits on the fast path; undefined turns the fast path off. */
  readonly fastRedirect: ((exchange: FastExchange) => void) | undefined
  /** Proxies whose `X-Forwarded-*` headers are trusted. */
  readonly trustedProxies?: Networks | undefined
  /** `max-age` of the HSTS header on the service's own host; 0 sends none. */
  readonly hstsSeconds?: number
  /** Undefined when the service has no HTTPS. */
  readonly plain?: PlainHttp | undefined
  /** Requests of programs on this machine; undefined when they have a separate listener. */
  readonly internal?: InternalHandlers | undefined
  /** Limits the connections and their memory. */
  readonly connections?: Connections | undefined
  /** Called with a code for input that is not HTTP or arrives too slowly. */
  readonly onMalformed?: ((code: string) => void) | undefined
}

/**
 * Creates the HTTP server. Requests for the service's own host go to the API; every other request is a
 * visit to a link.
 */
export function createFront(handlers: FrontHandlers): Server {
  const { isForApi, plain, internal, onMalformed } = handlers
  const { hstsSeconds = 0, trustedProxies = new Networks() } = handlers

  function isSecure({ socket, headers }: IncomingMessage): boolean {
    const { remoteAddress = '' } = socket
    const arrival = { isEncrypted: 'encrypted' in socket, remoteAddress }
    return arrivedSecurely(arrival, headers['x-forwarded-proto'], trustedProxies)
  }

  function answer(request: IncomingMessage, response: ServerResponse, target: RequestTarget): void {
    if (isForApi(target)) {
      if (hstsSeconds > 0 && isSecure(request)) {
        response.setHeader('Strict-Transport-Security', `max-age=${hstsSeconds}`)
      }
      request.url = target.query === '' ? target.path : `${target.path}?${target.query}`
      handlers.api(request, response)
    } else {
      handlers.redirect(request, response, target)
    }
  }

  function serve(request: IncomingMessage, response: ServerResponse): void {
    const target = targetOf(request)
    if (target === undefined) {
      onMalformed?.('invalid_target')
      refuse(request, response)
    } else if (
      internal !== undefined &&
      isInternalPath(target.path) &&
      isFromThisMachine(request, target)
    ) {
      answerInternal(internal, request, response, target)
    } else if (plain !== undefined && !isSecure(request)) {
      answerPlain(plain, request, response, target, {
        isForService: isForApi(target),
        otherwise: () => answer(request, response, target),
      })
    } else {
      answer(request, response, target)
    }
  }

  /** Returns false for a request that Node's server must answer. */
  function answerFast(exchange: FastExchange, redirect: (exchange: FastExchange) => void): boolean {
    const { target, headers } = exchange
    if (isForApi(target) || isInternalPath(target.path)) return false
    if (
      plain !== undefined &&
      !arrivedSecurely(exchange, headers['x-forwarded-proto'], trustedProxies)
    ) {
      if (isChallengePath(target.path)) return false
      const location = plain.locationOf(target)
      if (location instanceof Promise) return false
      if (location !== undefined) {
        redirectToHttps(exchange, location)
        return true
      }
    }
    redirect(exchange)
    return true
  }

  const { fastRedirect } = handlers
  return createFrontServer({
    answer: serve,
    answerFast: fastRedirect && ((exchange) => answerFast(exchange, fastRedirect)),
    connections: handlers.connections,
    onMalformed,
  })
}

/** HTTP/2 carries the host in `:authority` (RFC 9113, section 8.3.1). */
function targetOf(request: IncomingMessage): RequestTarget | undefined {
  const { url = '', rawHeaders, headers } = request
  if (!isHttp2(request)) {
    return request.httpVersionMajor === 1 ? parseRequestTarget(url, rawHeaders) : undefined
  }
  if (!url.startsWith('/')) return undefined
  const authority = headers[':authority'] ?? headers.host
  return typeof authority === 'string' ? parseRequestTarget(url, ['host', authority]) : undefined
}

function refuse(request: IncomingMessage, response: ServerResponse): void {
  request.resume()
  const requestId = randomUUID()
  const message = 'The request needs one valid Host and target.'
  const body = JSON.stringify(problem('bad_request', message, { requestId }))
  response.writeHead(400, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    'X-Request-Id': requestId,
    ...(!isHttp2(request) && { Connection: 'close' }),
  })
  response.end(body)
}

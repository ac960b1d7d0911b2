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
import { answerPlain, isChallengePath, moveVisit, type PlainHttp } from './plain-http.ts'
import { parseRequestTarget, type RequestTarget } from './request-target.ts'

export type FrontHandlers = {
  /** Whether the service itself answers this target. Every other is a visit to a link. */
  readonly isForApi: (target: RequestTarget) => boolean
  readonly api: (request: IncomingMessage, response: ServerResponse) => void
  readonly redirect: (
    request: IncomingMessage,
    response: ServerResponse,
    target: RequestTarget,
  ) => void
  /** Answers simple visits the fast way; undefined where none are to be. */
  readonly fastRedirect: ((exchange: FastExchange) => void) | undefined
  /** Proxies that may say how a request came to them. */
  readonly trustedProxies?: Networks | undefined
  /** For how long browsers are asked to reach the service itself over HTTPS alone; 0 for nothing. */
  readonly hstsSeconds?: number
  /** Undefined where there is no HTTPS. */
  readonly plain?: PlainHttp | undefined
  /** Answered to programs of this machine; undefined where they have a listener of their own. */
  readonly internal?: InternalHandlers | undefined
  /** Bounds what connections may cost. */
  readonly connections?: Connections | undefined
  /** Called for what is not HTTP, or takes too long to come, with a code for what is wrong. */
  readonly onMalformed?: ((code: string) => void) | undefined
}

/**
 * The HTTP server. What the service itself answers on its own host goes to the API; every other
 * request is a visit to a link.
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

  /** False for what is not answered the fast way. */
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
        moveVisit(exchange, location)
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

/** In HTTP/2 the host has a place of its own (RFC 9113, section 8.3.1). */
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
  const body = JSON.stringify(
    problem('bad_request', 'The request needs one valid Host and target.'),
  )
  response.writeHead(400, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    ...(!isHttp2(request) && { Connection: 'close' }),
  })
  response.end(body)
}

import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Networks } from '../network/ip-address.ts'
import { http } from './node-http.ts'
import { parseHost, parseRequestTarget, type RequestTarget } from './request-target.ts'

/** What the machine's other programs may ask, and no visitor. */
export type InternalHandlers = {
  /** Whether a host is served here, so that a proxy may get a certificate for it. */
  readonly isServed: (host: string) => boolean | Promise<boolean>
}

const ALLOW_PATH = '/internal/tls/allow'
/** A proxy adds one of these: then a visitor asks, whatever the connection's address is. */
const MARKS_OF_PROXIES = ['x-forwarded-for', 'x-real-ip', 'forwarded', 'via'] as const
const TIMEOUT_MS = 10_000
const LOOPBACK = new Networks()
for (const network of ['127.0.0.0/8', '::1']) LOOPBACK.add(network)

/** A listener of its own, which no proxy leads visitors to: whoever can reach it may ask. */
export function createInternalServer(handlers: InternalHandlers): Server {
  return new http.Server(
    { headersTimeout: TIMEOUT_MS, requestTimeout: TIMEOUT_MS },
    (request, response) => {
      const target = parseRequestTarget(request.url ?? '', request.rawHeaders)
      if (target?.path === ALLOW_PATH) answerInternal(handlers, request, response, target)
      else send(request, response, 404)
    },
  )
}

export function isInternalPath(path: string): boolean {
  return path === ALLOW_PATH
}

/** Whether a program of this machine asks, and nobody through it. */
export function isFromThisMachine(request: IncomingMessage, { host }: RequestTarget): boolean {
  return (
    LOOPBACK.has(request.socket.remoteAddress ?? '') &&
    (host === 'localhost' || LOOPBACK.has(host.replace(/^\[(.*)\]$/, '$1'))) &&
    MARKS_OF_PROXIES.every((name) => request.headers[name] === undefined)
  )
}

/** 200 for a host that is served here, 404 for any other. */
export function answerInternal(
  { isServed }: InternalHandlers,
  request: IncomingMessage,
  response: ServerResponse,
  { query }: RequestTarget,
): void {
  const host = parseHost(new URLSearchParams(query).get('domain') ?? '')
  const answer = (served: boolean) => send(request, response, served ? 200 : 404)
  if (request.method !== 'GET' && request.method !== 'HEAD') send(request, response, 405)
  else if (host === undefined) send(request, response, 400)
  else {
    const served = isServed(host)
    if (served instanceof Promise) served.then(answer, () => send(request, response, 503))
    else answer(served)
  }
}

function send(request: IncomingMessage, response: ServerResponse, status: number): void {
  request.resume()
  response.writeHead(status, { 'Content-Length': '0', 'Cache-Control': 'no-store' })
  response.end()
}

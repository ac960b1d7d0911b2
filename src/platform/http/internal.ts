import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Networks } from '../network/ip-address.ts'
import { http } from './node-http.ts'
import { parseHost, parseRequestTarget, type RequestTarget } from './request-target.ts'

/** Requests that are answered for other programs on this machine, and never for visitors. */
export type InternalHandlers = {
  /** Whether this service serves a host, so that a proxy may obtain a certificate for it. */
  readonly isServed: (host: string) => boolean | Promise<boolean>
}

const ALLOW_PATH = '/internal/tls/allow'
/** A proxy adds one of these, so a request with any of them is a visitor's. */
const PROXY_HEADERS = ['x-forwarded-for', 'x-real-ip', 'forwarded', 'via'] as const
const TIMEOUT_MS = 10_000
const LOOPBACK = new Networks()
for (const network of ['127.0.0.0/8', '::1']) LOOPBACK.add(network)

/** Creates a separate listener for internal requests; it answers every client that can reach it. */
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

/** Whether a program on this machine sent the request itself, not as a proxy for a visitor. */
export function isFromThisMachine(request: IncomingMessage, { host }: RequestTarget): boolean {
  return (
    LOOPBACK.has(request.socket.remoteAddress ?? '') &&
    (host === 'localhost' || LOOPBACK.has(host.replace(/^\[(.*)\]$/, '$1'))) &&
    PROXY_HEADERS.every((name) => request.headers[name] === undefined)
  )
}

/** Answers 200 when this service serves the host, 404 when not. */
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

import assert from 'node:assert/strict'
import { eventually } from './eventually.ts'

const SERVED_WITHIN_MS = 60_000

export type Answer = {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly body: any
}

/** An API client with one token. */
export type Api = {
  get(path: string): Promise<Answer>
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>
  put(path: string, body?: unknown): Promise<Answer>
  patch(path: string, body: unknown): Promise<Answer>
  delete(path: string): Promise<Answer>
  send(method: string, path: string, init?: RequestInit): Promise<Answer>
}

/** @param path of every request comes after `/api/v1` */
export function apiClient(baseUrl: string, token: string | undefined): Api {
  async function send(method: string, path: string, init: RequestInit = {}): Promise<Answer> {
    const headers = new Headers(init.headers)
    // A stopping service waits a second for requests on connections that clients keep open.
    headers.set('connection', 'close')
    // Compression would cost more than it saves here.
    if (!headers.has('accept-encoding')) headers.set('accept-encoding', 'identity')
    if (token !== undefined) headers.set('authorization', `Bearer ${token}`)
    const response = await fetch(`${baseUrl}/api/v1${path}`, { ...init, method, headers })
    const type = response.headers.get('content-type') ?? ''
    const isJson = type.startsWith('application/json')
    // A stream of events does not end by itself.
    const isStream = type.startsWith('text/event-stream')
    if (isStream) await response.body?.cancel()
    const text = isStream ? '' : await response.text()
    return {
      status: response.status,
      headers: response.headers,
      body: isJson && text !== '' ? JSON.parse(text) : text,
    }
  }
  const json = (body: unknown, headers: Record<string, string> = {}): RequestInit => ({
    headers: { 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return {
    send,
    get: (path) => send('GET', path),
    post: (path, body, headers) => send('POST', path, json(body, headers)),
    put: (path, body) => send('PUT', path, json(body)),
    patch: (path, body) => send('PATCH', path, json(body)),
    delete: (path) => send('DELETE', path),
  }
}

/** Expects the status of an answer, and shows the body when it differs. */
export function expectStatus(answer: Answer, status: number): Answer {
  assert.equal(answer.status, status, JSON.stringify(answer.body))
  return answer
}

/**
 * Repeats a request while the service is too busy for it, as its clients do. Threads that hash passwords get little of
 * a busy machine, and a service in a process of its own lets no request wait for longer than 3 s.
 */
export function untilServed(send: () => Promise<Answer>): Promise<Answer> {
  return eventually(async () => {
    const answer = await send()
    assert.notEqual(answer.status, 503, JSON.stringify(answer.body))
    return answer
  }, SERVED_WITHIN_MS)
}

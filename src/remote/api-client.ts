import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { problemSchema } from '@terse/contract/errors'
import { z } from 'zod'
import { plainText } from '../platform/cli/terminal.ts'
import { VERSION } from '../platform/process/version.ts'
import { type Login, RemoteFault } from './login-file.ts'

/** The service cuts off after 20 s without a byte; a slow network takes its time before. */
const TIMEOUT_MS = 30_000
const BODY_BYTES_MAX = 32 * 1024 * 1024
const ATTEMPTS_MAX = 3
const RETRY_AFTER_S_MAX = 10

/** What is shown of an error. A later version of the service may have more codes. */
const shownProblem = problemSchema
  .pick({ message: true, errors: true })
  .extend({ code: z.string() })

type Query = Readonly<Record<string, string | number | readonly string[] | undefined>>

type Sent = {
  readonly query?: Query
  readonly body?: unknown
  /** Sent as they are, in place of `body`. */
  readonly bytes?: Uint8Array<ArrayBuffer>
  /** For `If-Match`. */
  readonly version?: string
  /** Of a POST that changes nothing, or nothing more when it is sent again. */
  readonly isRead?: true
}

type Received = { readonly body: Buffer; readonly headers: Headers }

/**
 * The client of the public API for commands: whatever comes back is checked against the contract. It repeats
 * requests that were refused for a moment; creates carry an idempotency key, so that they happen once.
 */
export class ApiClient {
  readonly #url: string
  readonly #token: string
  readonly #signal: AbortSignal | undefined

  /** @param options.signal ends all requests, also those that wait for another attempt */
  constructor({ url, token }: Login, { signal }: { signal?: AbortSignal } = {}) {
    this.#url = url
    this.#token = token
    this.#signal = signal
  }

  get<T>(path: string, schema: z.ZodType<T>, query?: Query): Promise<T> {
    return this.#json('GET', path, schema, { ...(query && { query }) })
  }

  post<T>(path: string, schema: z.ZodType<T>, body: unknown): Promise<T> {
    return this.#json('POST', path, schema, { body })
  }

  /** Sends a file. Stores the same one once, however often it is sent. */
  upload<T>(path: string, schema: z.ZodType<T>, bytes: Uint8Array<ArrayBuffer>): Promise<T> {
    return this.#json('POST', path, schema, { bytes, isRead: true })
  }

  /** Sends a POST that changes nothing, or nothing more when it is sent again. */
  ask<T>(path: string, schema: z.ZodType<T>, body: unknown): Promise<T> {
    return this.#json('POST', path, schema, { body, isRead: true })
  }

  /**
   * @param version of what is changed: another one by now is refused; any is changed when left out
   * @throws {RemoteFault}
   */
  patch<T>(path: string, schema: z.ZodType<T>, body: unknown, version?: string): Promise<T> {
    return this.#json('PATCH', path, schema, { body, ...(version && { version }) })
  }

  /** Returns what `get` does, with the version that `patch` and `put` take. */
  async getVersioned<T>(
    path: string,
    schema: z.ZodType<T>,
  ): Promise<{ readonly value: T; readonly version: string | undefined }> {
    const { body, headers } = await this.#send('GET', path, {})
    return { value: this.#parsed(body, schema), version: headers.get('etag') ?? undefined }
  }

  /**
   * @param version as for `patch`
   * @throws {RemoteFault}
   */
  put<T>(path: string, schema: z.ZodType<T>, body: unknown, version?: string): Promise<T> {
    return this.#json('PUT', path, schema, { body, ...(version && { version }) })
  }

  delete<T>(path: string, schema: z.ZodType<T>): Promise<T> {
    return this.#json('DELETE', path, schema, {})
  }

  /** @throws {RemoteFault} */
  async bytes(path: string, query: Query): Promise<Buffer> {
    return (await this.#send('GET', path, { query })).body
  }

  async #json<T>(method: string, path: string, schema: z.ZodType<T>, sent: Sent): Promise<T> {
    const { body } = await this.#send(method, path, sent)
    return this.#parsed(body, schema)
  }

  #parsed<T>(body: Buffer, schema: z.ZodType<T>): T {
    const { data, error } = schema.safeParse(jsonOf(body))
    if (error === undefined) return data
    const text = `${this.#url} gave an answer that this version does not understand.`
    throw new RemoteFault(text, undefined, { cause: error })
  }

  async #send(method: string, path: string, sent: Sent): Promise<Received> {
    const url = new URL(`${this.#url}/api/v1${path}`)
    for (const [name, value] of Object.entries(sent.query ?? {})) {
      for (const each of Array.isArray(value) ? value : [value]) {
        if (each !== undefined) url.searchParams.append(name, String(each))
      }
    }
    const headers: Record<string, string> = {
      authorization: `Bearer ${this.#token}`,
      'user-agent': `terse/${VERSION}`,
      ...(sent.body !== undefined && { 'content-type': 'application/json' }),
      ...(sent.bytes && { 'content-type': 'application/octet-stream' }),
      ...(sent.version !== undefined && { 'if-match': sent.version }),
      ...(method === 'POST' && !sent.isRead && { 'idempotency-key': randomUUID() }),
    }
    const body = sent.bytes ?? (sent.body === undefined ? null : JSON.stringify(sent.body))
    for (let attempt = 1; ; attempt += 1) {
      const answer = await this.#once(url, { method, headers, body })
      if (answer.status < 300) return answer
      const wait = attempt < ATTEMPTS_MAX ? waitOf(answer) : undefined
      if (wait === undefined) throw this.#faultOf(answer)
      await sleep(wait * 1_000, undefined, { ...(this.#signal && { signal: this.#signal }) })
    }
  }

  async #once(url: URL, init: RequestInit) {
    try {
      const limits = [AbortSignal.timeout(TIMEOUT_MS), this.#signal]
      const signal = AbortSignal.any(limits.filter((limit) => limit !== undefined))
      // A token goes to no other address than the one of the login.
      const response = await fetch(url, { ...init, redirect: 'manual', signal })
      const { status, headers } = response
      return { status, headers, body: await readBody(response) }
    } catch (error) {
      if (error instanceof RemoteFault) throw error
      throw new RemoteFault(`${this.#url} cannot be reached: ${reasonOf(error)}.`, undefined, {
        cause: error,
      })
    }
  }

  #faultOf({ status, headers, body }: { status: number; headers: Headers; body: Buffer }) {
    if (status < 400) {
      const to = plainText(headers.get('location') ?? 'another address')
      return new RemoteFault(`${this.#url} redirects to ${to}. Log in there instead.`)
    }
    const { data } = shownProblem.safeParse(jsonOf(body))
    if (data === undefined) {
      const text = `${this.#url} answered with the status ${status}. Is it a Terse service?`
      return new RemoteFault(text)
    }
    const { code, message, errors = {} } = data
    const faults = Object.entries(errors).flatMap(([field, texts]) =>
      texts.map((text) => `${field} ${text}`),
    )
    // The message is the first of the faults.
    const text = code === 'validation_failed' && faults.length > 0 ? faults.join('; ') : message
    return new RemoteFault(plainText(text), code)
  }
}

/** How many seconds to wait before the same request, where that may help. */
function waitOf({ status, headers }: { status: number; headers: Headers }): number | undefined {
  if (status !== 429 && status !== 503) return undefined
  const seconds = Number(headers.get('retry-after') ?? 1)
  return seconds >= 0 && seconds <= RETRY_AFTER_S_MAX ? seconds : undefined
}

async function readBody({ body }: Response): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body ?? []) {
    bytes += chunk.length
    if (bytes > BODY_BYTES_MAX) throw new RemoteFault('The answer is too large.')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unexpected error'
  if (error.name === 'TimeoutError') return `no answer within ${TIMEOUT_MS / 1_000} s`
  const { cause } = error
  if (!(cause instanceof Error)) return error.message
  const code = 'code' in cause ? String(cause.code) : ''
  return [cause.message, code].filter(Boolean)[0] ?? error.message
}

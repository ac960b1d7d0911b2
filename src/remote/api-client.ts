import { openClient, type RetryOptions, type TerseClient } from '@terse/client'
import { problemSchema } from '@terse/contract/errors'
import { z } from 'zod'
import { plainText } from '../platform/cli/terminal.ts'
import { VERSION } from '../platform/process/version.ts'
import { type Login, RemoteFault } from './login-file.ts'

/** The service cuts off after 20 s without a byte; a slow network takes its time before. */
const TIMEOUT_MS = 30_000
const BODY_BYTES_MAX = 32 * 1024 * 1024

/** What is shown of an error. A later version of the service may have more codes. */
const shownProblem = problemSchema
  .pick({ message: true, errors: true })
  .extend({ code: z.string() })

type Query = Readonly<Record<string, string | number | readonly string[] | undefined>>

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

type Sent = {
  readonly query?: Query
  readonly body?: unknown
  /** Sent as they are, in place of `body`. */
  readonly bytes?: Uint8Array<ArrayBuffer>
  /** For `If-Match`. */
  readonly version?: string
  readonly idempotencyKey?: string
}

/** How requests are sent. */
export type ApiClientOptions = Pick<RetryOptions, 'attempts' | 'pauseMax'> & {
  /** Ends all requests, also those that wait for another attempt. */
  readonly signal?: AbortSignal
}

type Received = { readonly body: Buffer; readonly headers: Headers }

/** The typed client for commands: whatever comes back is checked against the contract, and is bounded. */
export class ApiClient {
  readonly #url: string
  readonly #client: TerseClient
  readonly #signal: AbortSignal | undefined

  constructor({ url, token }: Login, { signal, ...retries }: ApiClientOptions = {}) {
    this.#url = url
    this.#signal = signal
    const headers = { 'user-agent': `terse/${VERSION}` }
    this.#client = openClient({ url, token, headers, fetch: boundedFetch, ...retries })
  }

  get<T>(path: string, schema: z.ZodType<T>, query?: Query): Promise<T> {
    return this.#json('get', path, schema, { ...(query && { query }) })
  }

  /** @param idempotencyKey of a request that is sent again to go on; otherwise each has a key of its own */
  post<T>(path: string, schema: z.ZodType<T>, body: unknown, idempotencyKey?: string): Promise<T> {
    return this.#json('post', path, schema, { body, ...(idempotencyKey && { idempotencyKey }) })
  }

  /** Sends a file. Stores the same one once, however often it is sent. */
  upload<T>(path: string, schema: z.ZodType<T>, bytes: Uint8Array<ArrayBuffer>): Promise<T> {
    return this.#json('post', path, schema, { bytes })
  }

  /**
   * @param version of what is changed: another one by now is refused; any is changed when left out
   * @throws {RemoteFault}
   */
  patch<T>(path: string, schema: z.ZodType<T>, body: unknown, version?: string): Promise<T> {
    return this.#json('patch', path, schema, { body, ...(version && { version }) })
  }

  /** Returns what `get` does, with the version that `patch` and `put` take. */
  async getVersioned<T>(
    path: string,
    schema: z.ZodType<T>,
  ): Promise<{ readonly value: T; readonly version: string | undefined }> {
    const { body, headers } = await this.#send('get', path, {})
    return { value: this.#parsed(body, schema), version: headers.get('etag') ?? undefined }
  }

  /**
   * @param version as for `patch`
   * @throws {RemoteFault}
   */
  put<T>(path: string, schema: z.ZodType<T>, body: unknown, version?: string): Promise<T> {
    return this.#json('put', path, schema, { body, ...(version && { version }) })
  }

  delete<T>(path: string, schema: z.ZodType<T>): Promise<T> {
    return this.#json('delete', path, schema, {})
  }

  /** @throws {RemoteFault} */
  async bytes(path: string, query: Query): Promise<Buffer> {
    return (await this.#send('get', path, { query })).body
  }

  async #json<T>(method: Method, path: string, schema: z.ZodType<T>, sent: Sent): Promise<T> {
    const { body } = await this.#send(method, path, sent)
    return this.#parsed(body, schema)
  }

  #parsed<T>(body: Buffer, schema: z.ZodType<T>): T {
    const { data, error } = schema.safeParse(jsonOf(body))
    if (error === undefined) return data
    const text = `${this.#url} gave an answer that this version does not understand.`
    throw new RemoteFault(text, undefined, { cause: error })
  }

  async #send(method: Method, path: string, sent: Sent): Promise<Received> {
    const { query = {}, bytes, version, idempotencyKey } = sent
    const body = bytes ?? sent.body
    const headers = {
      ...(version !== undefined && { 'if-match': version }),
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      ...(bytes && { 'content-type': 'application/octet-stream' }),
    }
    try {
      // Commands check what comes back, and build their paths: for the types it is one request like another.
      const { data, error, response } = await this.#client.request(...anyOf(method, path), {
        params: { query: query as object },
        parseAs: 'arrayBuffer',
        headers,
        ...(body !== undefined && { body: body as never }),
        ...(bytes && { bodySerializer: () => bytes }),
        ...(this.#signal && { signal: this.#signal }),
      })
      if (!response.ok) throw this.#faultOf(response, error)
      return { body: Buffer.from(data ?? new ArrayBuffer(0)), headers: response.headers }
    } catch (error) {
      if (error instanceof RemoteFault) throw error
      throw new RemoteFault(`${this.#url} cannot be reached: ${reasonOf(error)}.`, undefined, {
        cause: error,
      })
    }
  }

  #faultOf({ status, headers }: Response, body: unknown): RemoteFault {
    if (status < 400) {
      const to = plainText(headers.get('location') ?? 'another address')
      return new RemoteFault(`${this.#url} redirects to ${to}. Log in there instead.`)
    }
    const { data } = shownProblem.safeParse(body)
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

const anyOf = (method: Method, path: string) =>
  [method as 'get', `/api/v1${path}` as '/api/v1/links'] as const

/** As `fetch`, for answers that come within `TIMEOUT_MS` and have at most `BODY_BYTES_MAX`. */
async function boundedFetch(request: Request): Promise<Response> {
  const signal = AbortSignal.any([request.signal, AbortSignal.timeout(TIMEOUT_MS)])
  const response = await fetch(request, { signal })
  let bytes = 0
  const bound = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.length
      if (bytes > BODY_BYTES_MAX) throw new RemoteFault('The answer is too large.')
      controller.enqueue(chunk)
    },
  })
  return new Response(response.body?.pipeThrough(bound) ?? null, response)
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

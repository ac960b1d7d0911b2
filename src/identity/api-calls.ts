import type { ErrorCode } from '@terse/contract/errors'
import type { FastifyInstance } from 'fastify'
import type { Actor } from './actor.ts'
import { callAs } from './authentication.ts'

/** What the API answers to a request that it refuses. */
export type Refusal = {
  readonly message: string
  readonly code: ErrorCode
  readonly errors?: Readonly<Record<string, readonly string[]>>
  readonly faults?: Readonly<Record<string, readonly { readonly code: string }[]>>
}

/** An answer of the API with a status from 400 up. */
export class CallRefused extends Error {
  override readonly name = 'CallRefused'
  readonly status: number
  readonly refusal: Refusal
  /** The header of the answer: seconds after which the same request may succeed. */
  readonly retryAfter: string | undefined

  constructor(status: number, refusal: Refusal, retryAfter: string | undefined) {
    super(refusal.message)
    this.status = status
    this.refusal = refusal
    this.retryAfter = retryAfter
  }
}

export type Query = Readonly<
  Record<string, string | number | boolean | readonly string[] | undefined>
>

/**
 * Calls operations of the API in the name of an actor, below `/api/v1`. Answers have the form that the API description
 * says, which the caller names.
 *
 * @throws {CallRefused}
 */
export type CallApi = {
  get<T = unknown>(path: string, query?: Query): Promise<T>
  post<T = unknown>(path: string, body: object, query?: Query): Promise<T>
  put<T = unknown>(path: string, body: object): Promise<T>
  patch<T = unknown>(path: string, body: object): Promise<T>
  delete(path: string): Promise<unknown>
  file(path: string, query: Query): Promise<{ readonly bytes: Buffer; readonly type: string }>
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

const PREFIX = '/api/v1'

export function callsAs(app: FastifyInstance, actor: Actor): CallApi {
  async function send(method: Method, path: string, sent: { query?: Query; body?: object }) {
    const response = await callAs(app, actor, {
      method,
      url: PREFIX + path + queryText(sent.query),
      ...(sent.body !== undefined && { payload: sent.body }),
    })
    const { statusCode, headers } = response
    if (statusCode >= 400) {
      const retryAfter = headers['retry-after']?.toString()
      throw new CallRefused(statusCode, response.json(), retryAfter)
    }
    return response
  }
  const json = async (...request: Parameters<typeof send>) => (await send(...request)).json()

  return {
    get: (path, query = {}) => json('GET', path, { query }),
    post: (path, body, query = {}) => json('POST', path, { body, query }),
    put: (path, body) => json('PUT', path, { body }),
    patch: (path, body) => json('PATCH', path, { body }),
    delete: (path) => json('DELETE', path, {}),
    async file(path, query) {
      const { rawPayload, headers } = await send('GET', path, { query })
      return { bytes: rawPayload, type: String(headers['content-type']) }
    },
  }
}

function queryText(query: Query = {}): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    for (const each of [value ?? []].flat()) parameters.append(name, String(each))
  }
  return parameters.size === 0 ? '' : `?${parameters}`
}

import type { FastifyInstance } from 'fastify'
import { type Actor, callAs } from '../identity/index.ts'

/** Why a tool did nothing, in words for the model. */
export class ToolFault extends Error {
  override readonly name = 'ToolFault'
}

export type Query = Readonly<
  Record<string, string | number | boolean | readonly string[] | undefined>
>

/** Calls operations of the API in the name of an actor; fails with `ToolFault` where they refuse. */
export type CallApi = {
  get(path: string, query?: Query): Promise<unknown>
  post(path: string, body: object): Promise<unknown>
  put(path: string, body: object): Promise<unknown>
  patch(path: string, body: object): Promise<unknown>
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
    if (response.statusCode >= 400) throw new ToolFault(faultText(response.json()))
    return response
  }
  const json = async (...request: Parameters<typeof send>) => (await send(...request)).json()

  return {
    get: (path, query = {}) => json('GET', path, { query }),
    post: (path, body) => json('POST', path, { body }),
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

/** The message of an answer with what is wrong with which field. */
function faultText(body: unknown): string {
  const { message = '', errors = {} } = body as {
    readonly message?: string
    readonly errors?: Readonly<Record<string, readonly string[]>>
  }
  const fields = Object.entries(errors).map(([field, texts]) => `${field} ${texts.join('; ')}`)
  return [message, ...fields].join('\n')
}

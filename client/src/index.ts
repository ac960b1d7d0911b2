import createFetchClient, { type Client, defaultBodySerializer } from 'openapi-fetch'
import { IDEMPOTENT_PATHS } from './idempotent-paths.ts'
import { type RetryOptions, retrying } from './retries.ts'
import type { components, paths } from './schema.ts'

export type { RetryOptions } from './retries.ts'
export type { paths } from './schema.ts'
export { type Delivery, verifyWebhook, WebhookError } from './webhooks.ts'

/** The shapes of resources and of request bodies, by their names in the OpenAPI document. */
export type Schemas = components['schemas']

/** `GET`, `POST` and so on, each with the paths of the API and what they take and give. */
export type TerseClient = Client<paths>

/** Also for paths with a real identifier in place of its name. */
const IDEMPOTENT = new RegExp(
  `^(?:${IDEMPOTENT_PATHS.map((path) => path.replaceAll(/\{\w+\}/g, '[^/]+')).join('|')})$`,
)

export type ClientOptions = RetryOptions & {
  /** The address of the service, such as `https://links.example.com`. */
  readonly url: string
  /** A token with the scopes of what is called. Without one, pages of the service send the session of their person. */
  readonly token?: string
  /** Headers of every request. */
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * Opens a client of the API of one service. A POST that takes an idempotency key gets one, so that a create that is
 * sent again happens once. Redirects are not followed: the token goes to no other address than `url`.
 */
export function openClient({ url, token, headers, ...retries }: ClientOptions): TerseClient {
  const client = createFetchClient<paths>({
    baseUrl: url.replace(/\/+$/, ''),
    headers: { ...headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) },
    redirect: 'manual',
    fetch: retrying(retries),
    bodySerializer: (body: unknown) => (body instanceof Blob ? body : defaultBodySerializer(body)),
  })
  client.use({
    onRequest({ request, schemaPath }) {
      const isKeyed = request.method === 'POST' && IDEMPOTENT.test(schemaPath)
      if (isKeyed && !request.headers.has('idempotency-key')) {
        request.headers.set('idempotency-key', crypto.randomUUID())
      }
      return request
    },
  })
  return client
}

/** An answer of the API that is no success: its envelope of errors, with the status. */
export class ApiError extends Error {
  /** The HTTP status. */
  readonly status: number
  /** Such as `validation_failed`; undefined if something else than the API answered. */
  readonly code: string | undefined
  /** What is wrong with each field of the request. */
  readonly errors: Readonly<Record<string, readonly string[]>>

  constructor(status: number, body: unknown) {
    const { code, message, errors } = (body ?? {}) as Partial<Schemas['Problem']>
    super(message ?? `the service answered with the status ${status}`)
    this.name = 'ApiError'
    this.status = status
    this.code = code
    this.errors = errors ?? {}
  }
}

type Result<T> = { readonly data?: T; readonly error?: unknown; readonly response: Response }

/**
 * Waits for a request, and returns the body of its answer.
 *
 * @throws {ApiError} when it was refused
 */
export async function dataOf<T>(request: Promise<Result<T>>): Promise<T> {
  const { data, error, response } = await request
  if (response.ok) return data as T
  throw new ApiError(response.status, error)
}

/** Returns the version of what an answer shows, for the header `if-match` of a change. */
export function versionOf({ response }: Pick<Result<unknown>, 'response'>): string | undefined {
  return response.headers.get('etag') ?? undefined
}

type Page<Item> = {
  readonly data: readonly Item[]
  /** The cursor is null at the end. */
  readonly meta: { readonly next_cursor?: string | null }
}

/**
 * Yields every item of a list, page by page, each once, even if items are created or deleted meanwhile.
 *
 * @param fetchPage requests the page at a cursor, which is empty at first
 * @throws {ApiError} when a page was refused
 */
export async function* eachOf<Item>(
  fetchPage: (cursor: string) => Promise<Result<Page<Item>>>,
): AsyncGenerator<Item, void, undefined> {
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: Page<Item> = await dataOf(fetchPage(cursor))
    yield* page.data
    cursor = page.meta.next_cursor ?? null
  }
}

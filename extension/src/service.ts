import { ApiError, dataOf, openClient, type Schemas, type TerseClient } from '@terse/client'
import { visitAddress } from '@terse/contract/visit-address'
import { type Connection, type Facts, stored } from './connection.ts'
import type { RefreshMessage } from './sign-in.ts'

export type Link = Schemas['Link']

export type NewLink = {
  readonly domain: string
  /** The service makes one up where it is empty. */
  readonly key: string
  readonly url: string
  readonly tags: readonly string[]
}

/** Why a key cannot be used; undefined where it can. */
export type KeyFault = 'taken' | 'reserved' | 'invalid' | 'too_many_variants' | undefined

/** The service refuses the extension, or the person has ended what they allowed. */
export class ConnectionEnded extends Error {
  override readonly name = 'ConnectionEnded'
}

/** The service cannot be reached. */
class Unreachable extends Error {
  override readonly name = 'Unreachable'
}

const LISTED_MAX = 10
const CHOICES_MAX = 100
/** A person waits with the popup open. */
const REQUEST_MS_MAX = 15_000
/** An access token that ends within this time is replaced before it is used. */
const EARLY_MS = 10_000

/** What the popup does with the service, by the typed client. All throw `ConnectionEnded`, `Unreachable` or `ApiError`. */
export class Service {
  readonly origin: string
  /** Whether links can be undone. The scopes of a token are not known. */
  readonly mayDelete: boolean
  readonly #client: TerseClient

  constructor(connection: Connection) {
    this.origin = connection.origin
    this.mayDelete = connection.kind === 'token' || connection.scopes.includes('links:delete')
    this.#client = openClient({
      url: connection.origin,
      attempts: 2,
      pauseMax: 2,
      fetch: (request) => sendAuthorized(connection, request),
    })
  }

  /** Returns the links that lead to any of these destinations and have not expired, those with most clicks first. */
  async findLinks(addresses: readonly string[]): Promise<readonly Link[]> {
    const lists = await Promise.all(
      addresses.map((url) =>
        this.#list({ url, state: ['active'], sort: '-clicks', per_page: LISTED_MAX }),
      ),
    )
    return lists.flat().toSorted((a, b) => (b.clicks ?? 0) - (a.clicks ?? 0))
  }

  /** Returns the last ten links of the workspace, the newest first. */
  lastLinks(): Promise<readonly Link[]> {
    return this.#list({ per_page: LISTED_MAX })
  }

  async #list(query: {
    readonly url?: string
    readonly state?: ['active']
    readonly sort?: '-clicks'
    readonly per_page: number
  }): Promise<readonly Link[]> {
    const { data } = await dataOf(this.#client.GET('/api/v1/links', { params: { query } }))
    return data as readonly Link[]
  }

  async checkKey(domain: string, key: string): Promise<KeyFault> {
    const query = { domain, key }
    const path = '/api/v1/links/key-availability'
    const { reason } = await dataOf(this.#client.GET(path, { params: { query } }))
    return reason ?? undefined
  }

  /** @param requestId the same one makes no second link */
  createLink({ domain, key, url, tags }: NewLink, requestId: string): Promise<Link> {
    const body = { domain, url, tags: [...tags], ...(key !== '' && { key }) }
    const params = { header: { 'idempotency-key': requestId } }
    return dataOf(this.#client.POST('/api/v1/links', { body, params }))
  }

  async deleteLink(id: string): Promise<void> {
    await dataOf(this.#client.DELETE('/api/v1/links/{id}', { params: { path: { id } } }))
  }

  /** Draws the QR code of the address at which the link opens. */
  qrCode(id: string, format: 'png' | 'svg'): Promise<Blob> {
    const params = { path: { id }, query: { format, address: 'visit' as const } }
    const request = { params, parseAs: 'blob' as const }
    return dataOf(this.#client.GET('/api/v1/links/{id}/qr-code', request)) as Promise<Blob>
  }

  async tagNames(): Promise<readonly string[]> {
    const query = { sort: '-links' as const, per_page: CHOICES_MAX }
    const { data } = await dataOf(this.#client.GET('/api/v1/tags', { params: { query } }))
    return data.map(({ name }) => name)
  }

  /** Reads what the form begins with: the domains, the default one first, and the name of the workspace. */
  async facts(): Promise<Facts> {
    const query = { per_page: CHOICES_MAX }
    const [{ data }, { domain }, { parameter: label }] = await Promise.all([
      dataOf(this.#client.GET('/api/v1/domains', { params: { query } })),
      dataOf(this.#client.GET('/api/v1/default-domain')),
      dataOf(this.#client.GET('/api/v1/labels')),
    ])
    const active = data.filter(({ status }) => status === 'active')
    // Every workspace can have links on the host of the service.
    const names = [...active.map((one) => one.domain), this.#host]
    const id = data[0]?.workspace_id ?? (await this.lastLinks())[0]?.workspace_id
    return {
      domains: [...new Set([domain ?? this.#host, ...names])],
      label,
      workspace: id === undefined ? null : await this.#title(id),
    }
  }

  get #host(): string {
    return new URL(this.origin).hostname
  }

  async #title(id: string): Promise<string> {
    const path = '/api/v1/workspaces/{id}'
    return (await dataOf(this.#client.GET(path, { params: { path: { id } } }))).title
  }

  /** The address at which a link opens: that of a service without TLS is no https. */
  visitAddress(link: Pick<Link, 'domain' | 'link'>): string {
    return visitAddress(link, new URL(this.origin))
  }

  /** The page of the dashboard for all that the popup does not have. */
  formPage(draft: { readonly url: string; readonly key: string; readonly domain: string }): string {
    const filled = Object.entries(draft).filter(([, value]) => value !== '')
    return `${this.origin}/app/links/new?${new URLSearchParams(Object.fromEntries(filled))}`
  }

  editPage({ id }: Pick<Link, 'id'>): string {
    return `${this.origin}/app/links/${id}/edit`
  }
}

/** Sends a request with the right of the connection, which is renewed where it has run out. */
async function sendAuthorized(given: Connection, request: Request): Promise<Response> {
  // What a sign-in gave is renewed from time to time; a token never is.
  let connection = given.kind === 'token' ? given : await stored.get('connection')
  if (connection?.kind === 'grant' && connection.accessUntil < Date.now() + EARLY_MS) {
    connection = await renewed(connection.access)
  }
  const response = await sendAs(connection, request.clone())
  if (response.status !== 401) return response
  if (connection?.kind !== 'grant') throw new ConnectionEnded()
  const second = await sendAs(await renewed(connection.access), request)
  if (second.status === 401) throw new ConnectionEnded()
  return second
}

async function renewed(refused: string): Promise<Connection | undefined> {
  const message: RefreshMessage = { kind: 'refresh', refused }
  const { isRight }: { isRight?: boolean } = await chrome.runtime.sendMessage(message)
  if (isRight === undefined) throw new Unreachable()
  if (!isRight) throw new ConnectionEnded()
  return stored.get('connection')
}

async function sendAs(connection: Connection | undefined, request: Request): Promise<Response> {
  if (connection === undefined) throw new ConnectionEnded()
  const secret = connection.kind === 'token' ? connection.token : connection.access
  const headers = new Headers(request.headers)
  headers.set('authorization', `Bearer ${secret}`)
  const signal = AbortSignal.timeout(REQUEST_MS_MAX)
  try {
    return await fetch(new Request(request, { headers, signal, cache: 'no-store' }))
  } catch {
    throw new Unreachable()
  }
}

/** What is wrong, by the field of the request; the rest as one sentence. */
export type Faults = {
  readonly fields: Readonly<Record<string, string>>
  readonly general: string | undefined
}

/** @throws an error that is none of the service's */
export function faultsOf(error: unknown, offline: string): Faults {
  if (error instanceof Unreachable) return { fields: {}, general: offline }
  if (!(error instanceof ApiError)) throw error
  const fields = Object.fromEntries(
    Object.entries(error.errors).map(([field, texts]) => [field, texts.join(' ')]),
  )
  return { fields, general: Object.keys(fields).length > 0 ? undefined : error.message }
}

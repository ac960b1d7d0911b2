import { currentWorkspace } from '../state/workspace.ts'
import { addressOf, type Query } from './address.ts'
import { ApiError, errorOf, noAnswer } from './api-error.ts'
import { reportAnswer, reportFailure } from './availability.ts'
import { headersOf, takeEarlyAnswer } from './early-answers.ts'

export type RequestOptions = {
  readonly query?: Query
  /** Sent as JSON. */
  readonly body?: unknown
  /** Sent as they are, in place of `body`. */
  readonly bytes?: Blob
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
  /** Sends the request even while the page is being left. */
  readonly keepalive?: boolean
  /** Fails on 401 and on the demand to sign in again, instead of asking the person. */
  readonly isSilent?: boolean
  /** Sends no cookies. */
  readonly isAnonymous?: boolean
  /** Retried by its caller: neither reports an outage nor ends one. */
  readonly isBackground?: boolean
  /** The caller sends it again after `Retry-After`: a refusal with that header is not reported as an outage. */
  readonly isRetried?: boolean
}

/** What asks the person to sign in. Each resolves when that has happened, and rejects when it is cancelled. */
export type Gates = {
  signIn(): Promise<void>
  authenticate(): Promise<void>
}

let gates: Gates | undefined

/** The shell registers the dialogs; without them, requests fail instead. */
export function setGates(next: Gates | undefined): void {
  gates = next
}

/**
 * Sends a request to the API and returns its JSON. Where the session has ended or is too old for the
 * operation, the person is asked to sign in, and the request is sent again.
 *
 * @param path below `/api/v1`
 * @throws {ApiError}
 */
export async function request<T>(
  method: string,
  path: string,
  options: RequestOptions = {},
): Promise<T> {
  const response = await send(method, path, options)
  return (await response.json()) as T
}

/** What an answer holds, and the version of it for `If-Match`. */
export type Versioned<T> = { readonly value: T; readonly version: string | undefined }

/** As `request`, with the version of the answer. */
export async function requestVersioned<T>(
  path: string,
  options: RequestOptions = {},
): Promise<Versioned<T>> {
  const response = await send('GET', path, options)
  const version = response.headers.get('etag') ?? undefined
  return { value: (await response.json()) as T, version }
}

/** As `request`, for an answer that is no JSON. */
export function requestRaw(path: string, options: RequestOptions = {}): Promise<Response> {
  return send('GET', path, { ...options, headers: { Accept: '*/*' } })
}

/** Opens an answer that does not end, whose body is server-sent events. Its caller connects again. */
export function openStream(
  path: string,
  { query, signal }: Pick<RequestOptions, 'query' | 'signal'>,
): Promise<Response> {
  const headers = { Accept: 'text/event-stream' }
  return send('GET', path, { ...(query && { query }), signal, headers, isBackground: true })
}

async function send(method: string, path: string, options: RequestOptions): Promise<Response> {
  try {
    return await attempt(method, path, options)
  } catch (error) {
    const gate = options.isSilent || !(error instanceof ApiError) ? undefined : gateOf(error)
    if (gate === undefined) throw error
    await gate()
    return attempt(method, path, options)
  }
}

function gateOf({ status, code }: ApiError): (() => Promise<void>) | undefined {
  if (status === 401) return gates?.signIn
  if (code === 'authentication_required') return gates?.authenticate
  return undefined
}

async function attempt(method: string, path: string, options: RequestOptions): Promise<Response> {
  const { query = {}, body, bytes, headers, signal, keepalive = false, isBackground } = options
  const { isRetried = false, isAnonymous = false } = options
  const workspace = currentWorkspace.value
  const address = addressOf({ path, query })
  let response: Response
  try {
    const early = method === 'GET' ? takeEarlyAnswer(address, workspace) : undefined
    response =
      (early && (await early)) ??
      (await fetch(address, {
        method,
        signal: signal ?? null,
        keepalive,
        credentials: isAnonymous ? 'omit' : 'same-origin',
        headers: {
          ...headersOf(workspace),
          ...(body !== undefined && { 'Content-Type': 'application/json' }),
          ...(bytes !== undefined && { 'Content-Type': 'application/octet-stream' }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        ...(bytes !== undefined && { body: bytes }),
      }))
  } catch (error) {
    if (signal?.aborted) throw error
    const failure = noAnswer()
    if (!isBackground) reportFailure(failure)
    throw failure
  }
  if (response.ok) {
    if (!isBackground) reportAnswer()
    return response
  }
  const failure = await errorOf(response)
  if (isBackground || (isRetried && failure.retryAfterSeconds !== undefined)) throw failure
  if (failure.isTemporary) reportFailure(failure)
  else reportAnswer()
  throw failure
}

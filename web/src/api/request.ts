import type { PageMeta } from '@terse/contract/pagination'
import { Observable } from '../state/observable.ts'
import { currentWorkspace } from '../state/workspace.ts'
import { ApiError, errorOf, noAnswer } from './api-error.ts'
import { addressOf, headersOf, type Query, takeEarlyAnswer } from './reads.ts'

type RequestOptions = {
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
type Gates = {
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

/** Options of a query for what is being edited: as it is now, and unchanged until it is requested again. */
export const WHILE_EDITED = {
  staleTime: Number.POSITIVE_INFINITY,
  gcTime: 0,
  refetchOnReconnect: false,
} as const

/** Headers by which a change fails with 412 where the resource has another version by now. */
export function ifMatch(version: string | undefined): Readonly<Record<string, string>> {
  return version === undefined ? {} : { 'If-Match': version }
}

/** As `request`, by default with GET, with the version of the answer. */
export async function requestVersioned<T>(
  path: string,
  { method = 'GET', ...options }: RequestOptions & { readonly method?: string } = {},
): Promise<Versioned<T>> {
  const response = await send(method, path, options)
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
    const early = method === 'GET' ? takeEarlyAnswer(address, workspace, signal) : undefined
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

const OUTAGE_RETRY_MS_MIN = 2_000
const OUTAGE_RETRY_MS_MAX = 30_000

export type Outage = {
  /** `offline`: no answer at all. `unavailable`: the service answers, but cannot read or write now. */
  readonly kind: 'offline' | 'unavailable'
  /** When the pages are loaded again, in ms since the epoch. */
  readonly retryAtMs: number
}

/** Undefined while the API answers. */
export const outage = new Observable<Outage | undefined>(undefined)

let failures = 0

function reportAnswer(): void {
  failures = 0
  outage.set(undefined)
}

/** Each failure after the time of the last retry doubles the pause before the next. */
function reportFailure(error: ApiError): void {
  const current = outage.value
  if (current !== undefined && Date.now() < current.retryAtMs) return
  failures += 1
  const backoffMs = Math.min(OUTAGE_RETRY_MS_MAX, OUTAGE_RETRY_MS_MIN * 2 ** (failures - 1))
  const pauseMs = Math.max(backoffMs, (error.retryAfterSeconds ?? 0) * 1_000)
  const kind = error.status === 0 ? 'offline' : 'unavailable'
  outage.set({ kind, retryAtMs: Date.now() + pauseMs })
}

const WATCH_INTERVAL_MS = 5_000
/** A service that hangs is noticed within ten seconds too. */
const WATCH_PATIENCE_MS = 4_000

/**
 * Asks the service now and then whether it answers, so that a page on which nothing happens notices an outage too. Only
 * while the page is visible, and not during an outage: the page is then loaded again until it answers.
 *
 * @returns stops it
 */
export function watchAvailability(): () => void {
  const check = () => {
    if (document.visibilityState === 'visible' && outage.value === undefined) void ask()
  }
  const timer = setInterval(check, WATCH_INTERVAL_MS)
  document.addEventListener('visibilitychange', check)
  return () => {
    clearInterval(timer)
    document.removeEventListener('visibilitychange', check)
  }
}

/** Anonymously: it must not keep the session of a person who has left alive. */
async function ask(): Promise<void> {
  const signal = AbortSignal.timeout(WATCH_PATIENCE_MS)
  try {
    await request('GET', '/sign-in-options', { signal, isSilent: true, isAnonymous: true })
  } catch {
    if (signal.aborted) reportFailure(noAnswer())
  }
}

const PER_PAGE = 100

export type ListPage<T> = { readonly data: readonly T[]; readonly meta: PageMeta }

/**
 * Reads a list page by page, each item once, even if others come and go meanwhile.
 *
 * @param options.max more are left out
 */
export async function requestAll<T>(
  path: string,
  {
    signal,
    max = Number.POSITIVE_INFINITY,
    query: parameters = {},
  }: { signal: AbortSignal; max?: number; query?: Query },
): Promise<readonly T[]> {
  const items: T[] = []
  let cursor: string | null = ''
  while (cursor !== null && items.length < max) {
    const query = { ...parameters, per_page: PER_PAGE, cursor }
    const page: ListPage<T> = await request('GET', path, { query, signal })
    items.push(...page.data)
    cursor = page.meta.next_cursor ?? null
  }
  return items
}

/** By then others have had their turns; the first answer comes after 5 s at most. */
const RETRIES_MAX = 3

/** As `request` with GET, for work that waits in a queue: a busy service is asked again when it says. */
export async function requestPatiently<T>(
  path: string,
  options: Pick<RequestOptions, 'query' | 'signal'>,
): Promise<T> {
  for (let retries = 0; ; retries += 1) {
    const isRetried = retries < RETRIES_MAX
    try {
      return await request<T>('GET', path, { ...options, isRetried })
    } catch (error) {
      const seconds = isRetried && error instanceof ApiError ? secondsUntilRetry(error) : undefined
      if (seconds === undefined) throw error
      await pause(seconds * 1_000, options.signal)
      options.signal?.throwIfAborted()
    }
  }
}

/** Undefined for what would fail again. */
function secondsUntilRetry({ status, retryAfterSeconds }: ApiError): number | undefined {
  return status === 503 || status === 429 ? retryAfterSeconds : undefined
}

/** Ends early when the signal aborts, and when the browser is online again. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(end, ms)
    signal?.addEventListener('abort', end)
    addEventListener('online', end)
    function end() {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      removeEventListener('online', end)
      resolve()
    }
  })
}

import { setTimeout } from 'node:timers/promises'
import type { z } from 'zod'
import { RefusedAddressError } from '../../../platform/dns/checked-lookup.ts'
import {
  type Agents,
  AnswerTooLongError,
  type OutgoingAnswer,
  sendRequest,
} from '../../../platform/network/outgoing-request.ts'
import { VERSION } from '../../../platform/process/version.ts'
import { backoffMs } from '../../../platform/work/async.ts'
import { ImportSourceFault } from '../../import-source.ts'

const TIMEOUT_MS = 60_000
const BODY_BYTES_MAX = 32 * 1024 * 1024
const ATTEMPTS_MAX = 8
const FIRST_RETRY_MS = 1_000
/** After an answer that asks for fewer requests, but not for how long to wait. */
const FIRST_RETRY_WHEN_LIMITED_MS = 5_000
const RETRY_MS_MAX = 120_000
/** A service that asks for more is asked again by the import's next run. */
const RETRY_AFTER_MS_MAX = 15 * 60_000

/** What the sources that read HTTP APIs are given. */
export type ApiDeps = {
  /** Through which all connections go; they stay the caller's. */
  readonly agents: Agents
  readonly clock?: WaitingClock
  readonly timeoutMs?: number
}

type SourceClientOptions = ApiDeps & {
  /** As people call it. */
  readonly service: string
  /** Below which all requests are sent. */
  readonly url: string
  /** With the token. Never in a message. */
  readonly headers: Readonly<Record<string, string>>
  readonly limits: readonly RateLimit[]
}

type SourceRequest<S extends z.ZodType> = {
  readonly path: string
  readonly query?: Readonly<Record<string, string | number>>
  /** Sent by POST, as a form. */
  readonly form?: Readonly<Record<string, string>>
  readonly schema: S
  readonly signal: AbortSignal
  /** Makes JSON of an answer that is none, when asking again has not helped. */
  readonly repair?: (text: string) => string
}

/** Why one attempt failed; another may succeed after a wait. */
type Failed = { readonly fault: ImportSourceFault; readonly waitMs: number }

/**
 * Reads JSON from the API of one service, one request at a time. Keeps the service's rate limits, retries what may
 * succeed later, and follows no redirect, so that the token stays with the host that was named.
 */
export class SourceClient {
  readonly #options: SourceClientOptions
  readonly #clock: WaitingClock
  readonly #pace: RequestPace
  readonly #base: URL

  /** @throws {ImportSourceFault} when the URL is none of a web server */
  constructor(options: SourceClientOptions) {
    this.#options = options
    this.#base = baseUrl(options)
    this.#clock = options.clock ?? waitingClock
    this.#pace = new RequestPace(options.limits, this.#clock)
  }

  /** @throws {ImportSourceFault} without the token and without the query */
  async read<S extends z.ZodType>(request: SourceRequest<S>): Promise<z.infer<S>> {
    const answer = await this.#answer(request)
    if (answer.status === 200) return this.#parse(answer.value, request)
    throw this.#refusal(answer.status, request.path)
  }

  /** Returns undefined where the service has no such thing, or not for this account. */
  async find<S extends z.ZodType>(request: SourceRequest<S>): Promise<z.infer<S> | undefined> {
    const answer = await this.#answer(request)
    if (answer.status === 200) return this.#parse(answer.value, request)
    if ([402, 403, 404].includes(answer.status)) return undefined
    throw this.#refusal(answer.status, request.path)
  }

  /** Returns the first conclusive answer; its value is of JSON if the status is 200. */
  async #answer(request: SourceRequest<z.ZodType>): Promise<{ status: number; value: unknown }> {
    for (let attempt = 0; ; attempt += 1) {
      request.signal.throwIfAborted()
      await this.#pace.turn(request.signal)
      const outcome = await this.#attempt(request, attempt)
      if (!('fault' in outcome)) return outcome
      const { fault, waitMs } = outcome
      if (!fault.isTransient || attempt + 1 >= ATTEMPTS_MAX || waitMs > RETRY_AFTER_MS_MAX) {
        throw fault
      }
      await this.#clock.wait(waitMs, request.signal)
    }
  }

  async #attempt(
    request: SourceRequest<z.ZodType>,
    attempt: number,
  ): Promise<{ status: number; value: unknown } | Failed> {
    const waitMs = this.#backoff(attempt, FIRST_RETRY_MS)
    let answer: OutgoingAnswer
    try {
      answer = await this.#send(request)
    } catch (error) {
      request.signal.throwIfAborted()
      return { fault: this.#connectionFault(error), waitMs }
    }
    const { status } = answer
    if (status === 429 || status >= 500) {
      const first = status === 429 ? FIRST_RETRY_WHEN_LIMITED_MS : FIRST_RETRY_MS
      const asked = this.#retryAfterMs(answer)
      return {
        fault: this.#unavailable(status, asked),
        waitMs: Math.max(asked ?? 0, this.#backoff(attempt, first)),
      }
    }
    if (status !== 200) return { status, value: undefined }
    const parsed = parseJson(answer.body, attempt === 0 ? undefined : request.repair)
    if (parsed !== undefined) return { status, value: parsed.value }
    return { fault: this.#fault('sent an answer that is not JSON', true), waitMs }
  }

  #send(request: SourceRequest<z.ZodType>): Promise<OutgoingAnswer> {
    const { path, query = {}, form, signal } = request
    const url = new URL(`${this.#base.href.replace(/\/$/, '')}${path}`)
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value))
    return sendRequest(this.#options.agents, {
      method: form === undefined ? 'GET' : 'POST',
      url,
      headers: {
        accept: 'application/json',
        'accept-encoding': 'identity',
        'user-agent': `terse/${VERSION}`,
        ...(form && { 'content-type': 'application/x-www-form-urlencoded' }),
        ...this.#options.headers,
      },
      body: form && new URLSearchParams(form).toString(),
      timeoutMs: this.#options.timeoutMs ?? TIMEOUT_MS,
      bodyBytesMax: BODY_BYTES_MAX,
      signal,
    })
  }

  #parse<S extends z.ZodType>(value: unknown, { schema, path }: SourceRequest<S>): z.infer<S> {
    const parsed = schema.safeParse(value)
    if (parsed.success) return parsed.data
    const [issue] = parsed.error.issues
    const field = issue?.path.join('.') || 'the answer'
    throw this.#fault(`sent what it should not at ${path}: ${field}: ${issue?.message}`, false)
  }

  #refusal(status: number, path: string): ImportSourceFault {
    if (status === 401 || status === 403) {
      return this.#fault(`refused the token (status ${status})`, false)
    }
    if (status >= 300 && status < 400) {
      return this.#fault(`redirects ${path} to another address; name the right one`, false)
    }
    return this.#fault(`refused ${path} (status ${status})`, false)
  }

  #connectionFault(error: unknown): ImportSourceFault {
    if (error instanceof RefusedAddressError) {
      return this.#fault('is at an address that must not be reached from here', false, error)
    }
    if (error instanceof AnswerTooLongError) {
      return this.#fault('sent an answer that is too long', false, error)
    }
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : ''
    const isTimeout = error instanceof Error && error.name === 'AbortError'
    return this.#fault(isTimeout ? 'did not answer in time' : `did not answer${code}`, true, error)
  }

  #unavailable(status: number, askedMs: number | undefined): ImportSourceFault {
    if (status !== 429) return this.#fault(`failed (status ${status})`, true)
    const when = askedMs === undefined ? '' : `, for ${Math.ceil(askedMs / 1_000)} seconds`
    return this.#fault(`asks for fewer requests (status 429)${when}`, true)
  }

  #fault(what: string, isTransient: boolean, cause?: unknown): ImportSourceFault {
    const message = `${this.#options.service} at ${this.#base.host} ${what}.`
    return new ImportSourceFault(message, { isTransient, cause })
  }

  /** Between half and all of a time that doubles with each attempt. */
  #backoff(attempt: number, firstMs: number): number {
    return backoffMs(attempt, firstMs, RETRY_MS_MAX, (1 + this.#clock.random()) / 2)
  }

  #retryAfterMs({ headers }: OutgoingAnswer): number | undefined {
    const text = headers['retry-after']
    if (text === undefined) return undefined
    if (/^\d+$/.test(text)) return Number(text) * 1_000
    const atMs = Date.parse(text)
    return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - this.#clock.nowMs())
  }
}

function baseUrl({ service, url }: SourceClientOptions): URL {
  const base = URL.parse(url)
  if (base !== null && /^https?:$/.test(base.protocol) && base.username + base.password === '') {
    base.search = ''
    base.hash = ''
    return base
  }
  throw new ImportSourceFault(`The address of ${service} must be an http or https URL.`, {
    isTransient: false,
  })
}

/** Returns undefined for what is no JSON. */
function parseJson(
  body: Buffer,
  repair: ((text: string) => string) | undefined,
): { readonly value: unknown } | undefined {
  const text = body.toString('utf8')
  try {
    return { value: JSON.parse(text) }
  } catch {
    return repair === undefined ? undefined : parseJson(Buffer.from(repair(text)), undefined)
  }
}

/** At most `requests` in any `perMs`. */
type RateLimit = { readonly requests: number; readonly perMs: number }

/** Spaces requests so that a service's limits are kept without asking until it refuses. */
export class RequestPace {
  readonly #limits: readonly RateLimit[]
  readonly #clock: WaitingClock
  /** When the last requests started; as many as the widest limit counts. */
  readonly #starts: number[] = []

  constructor(limits: readonly RateLimit[], clock: WaitingClock) {
    this.#limits = limits
    this.#clock = clock
  }

  /** Resolves when a request may start. Callers must not overlap. */
  async turn(signal: AbortSignal): Promise<void> {
    const waitMs = Math.max(0, ...this.#limits.map((limit) => this.#waitMs(limit)))
    if (waitMs > 0) await this.#clock.wait(waitMs, signal)
    this.#starts.push(this.#clock.nowMs())
    if (this.#starts.length > Math.max(...this.#limits.map(({ requests }) => requests))) {
      this.#starts.shift()
    }
  }

  #waitMs({ requests, perMs }: RateLimit): number {
    const start = this.#starts.at(-requests)
    return start === undefined ? 0 : start + perMs - this.#clock.nowMs()
  }
}

/** Time, as requests that are paced and retried need it. Tests pass one that does not wait. */
export type WaitingClock = {
  /** Milliseconds since the epoch. */
  nowMs(): number
  /** @throws the signal's reason when it is aborted */
  wait(ms: number, signal: AbortSignal): Promise<void>
  /** In [0, 1). */
  random(): number
}

export const waitingClock: WaitingClock = {
  nowMs: () => Date.now(),
  wait: async (ms, signal) => {
    await setTimeout(ms, undefined, { signal })
  },
  random: () => Math.random(),
}

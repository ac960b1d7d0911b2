import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { Failure } from '../../failure.ts'
import { Histogram, LATENCY_BOUNDS_SECONDS } from '../../metrics/histogram.ts'
import type { ApiPaths } from './api-paths.ts'

/** The target for one iteration of the event loop that starts API requests. */
const ITERATION_MS = 8
/** Most requests that start in one iteration: enough for concurrent creates to share one commit. */
const STARTS_MAX = 32

/**
 * Starts a limited number of API requests in each iteration of the event loop, so that visits, which
 * are answered between iterations, wait for that many and not for all that have arrived. The limit
 * halves after an iteration above the target, and grows by one after any other.
 */
export class ApiRequestPacer {
  readonly #listener: RequestListener
  /** In order of arrival. A request is removed when its client disconnects. */
  readonly #waiting = new Map<ServerResponse, IncomingMessage>()
  #startsPerIteration = STARTS_MAX
  #started = 0
  #iterationStartedMs = 0
  #isScheduled = false

  constructor(listener: RequestListener) {
    this.#listener = listener
  }

  readonly answer: RequestListener = (request, response) => {
    if (this.#waiting.size === 0 && this.#started < this.#startsPerIteration) {
      this.#start(request, response)
    } else {
      this.#waiting.set(response, request)
      response.once('close', () => this.#waiting.delete(response))
    }
    this.#schedule()
  }

  #start(request: IncomingMessage, response: ServerResponse): void {
    if (this.#started === 0) this.#iterationStartedMs = performance.now()
    this.#started += 1
    this.#listener(request, response)
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(this.#beginIteration)
  }

  readonly #beginIteration = (): void => {
    this.#isScheduled = false
    const tookMs = performance.now() - this.#iterationStartedMs
    this.#startsPerIteration =
      tookMs > ITERATION_MS
        ? Math.max(1, Math.floor(this.#startsPerIteration / 2))
        : Math.min(STARTS_MAX, this.#startsPerIteration + 1)
    this.#started = 0
    for (const [response, request] of this.#waiting) {
      if (this.#started >= this.#startsPerIteration) break
      this.#waiting.delete(response)
      this.#start(request, response)
    }
    if (this.#waiting.size > 0 || this.#started > 0) this.#schedule()
  }
}

/** The most time from a request's arrival to its answer: clients give up or retry soon after. */
const ANSWER_MS_MAX = 2_750
/** The same with SQLite: only this machine's disk makes an answer late then, and a retry adds to its work. */
const LOCAL_ANSWER_MS_MAX = 15_000

export function answerLimit(isDatabaseRemote: boolean): number {
  return isDatabaseRemote ? ANSWER_MS_MAX : LOCAL_ANSWER_MS_MAX
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Exempts a route whose work has its own time-outs, such as scans and DNS checks. */
    mayTakeLong?: true
    /** Marks answers that last until their client leaves: their latency is not measured. */
    isEndless?: true
  }
}

/**
 * Answers 503 when a route takes too long, such as one with several queries to a slow database. Its work
 * goes on and may still succeed, as when an answer is lost in the network.
 */
export function limitDuration(app: FastifyInstance, answerMsMax = ANSWER_MS_MAX): void {
  app.addHook('onRoute', (route) => {
    if (route.config?.mayTakeLong) return
    const { handler } = route
    route.handler = function (request, reply) {
      const result: unknown = Reflect.apply(handler, this, [request, reply])
      if (!(result instanceof Promise)) return result
      return within(result, answerMsMax - reply.elapsedTime)
    }
  })
}

/** @throws {Failure} `unavailable` when `work` takes longer than `ms`; the work is not canceled */
export async function within<T>(work: Promise<T>, ms: number): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    reject(Failure.unavailable(new Error('the answer took too long'), { kind: 'database_slow' }))
  }, ms)
  try {
    return await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
  }
}

/** How many answers had this method, route and status. */
type Count = {
  readonly method: string
  /** The pattern, such as `/api/v1/links/:id`, so that the number of counters is bounded. */
  readonly route: string
  readonly status: number
  answers: number
}

/** Counts the API's answers and measures their latency. */
export class ApiMeter {
  /** From the end of the request's headers to the end of the answer, in seconds. */
  readonly latency = new Histogram(LATENCY_BOUNDS_SECONDS)
  readonly #counts = new Map<string, Count>()

  get counts(): Iterable<Readonly<Count>> {
    return this.#counts.values()
  }

  /** @param seconds undefined for an answer whose latency means nothing */
  count(method: string, route: string, status: number, seconds: number | undefined): void {
    const name = `${method} ${route} ${status}`
    const count = this.#counts.get(name) ?? { method, route, status, answers: 0 }
    count.answers += 1
    this.#counts.set(name, count)
    if (seconds !== undefined) this.latency.observe(seconds)
  }
}

/** Reports the answers of all paths of the API to `meter`. */
export function meterApi(
  app: FastifyInstance,
  meter: ApiMeter,
  { patternOf }: Pick<ApiPaths, 'patternOf'>,
): void {
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? patternOf(request.url)
    if (route?.startsWith('/api/')) {
      const seconds = request.routeOptions.config.isEndless ? undefined : reply.elapsedTime / 1_000
      meter.count(request.method, route, reply.statusCode, seconds)
    }
    done()
  })
}

import type { FastifyInstance } from 'fastify'
import { Histogram, LATENCY_BOUNDS_SECONDS } from '../../metrics/histogram.ts'
import type { ApiPaths } from './api-paths.ts'

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

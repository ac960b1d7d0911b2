import type { FastifyInstance } from 'fastify'
import { Histogram, LATENCY_BOUNDS_SECONDS } from '../../metrics/histogram.ts'

/** Answers of one kind. */
type Count = {
  readonly method: string
  /** As the route is written, without the values in it, so that there are few. */
  readonly route: string
  readonly status: number
  answers: number
}

/** Counts what the API answers, and how long that takes. */
export class ApiMeter {
  /** From the request's head to the answer's end, in seconds. */
  readonly latency = new Histogram(LATENCY_BOUNDS_SECONDS)
  readonly #counts = new Map<string, Count>()

  get counts(): Iterable<Readonly<Count>> {
    return this.#counts.values()
  }

  count(method: string, route: string, status: number, seconds: number): void {
    const name = `${method} ${route} ${status}`
    const count = this.#counts.get(name) ?? { method, route, status, answers: 0 }
    count.answers += 1
    this.#counts.set(name, count)
    this.latency.observe(seconds)
  }
}

/** Counts the answers of all routes of the API. */
export function meterApi(app: FastifyInstance, meter: ApiMeter): void {
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url
    if (route === undefined || !route.startsWith('/api/')) return
    meter.count(request.method, route, reply.statusCode, reply.elapsedTime / 1_000)
  })
}

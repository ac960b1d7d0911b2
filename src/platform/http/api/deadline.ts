import type { FastifyInstance } from 'fastify'
import { Failure } from '../../failure.ts'

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

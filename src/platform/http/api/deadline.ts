import type { FastifyInstance } from 'fastify'
import { Failure } from '../../failure.ts'

/** From when a request arrived. Whoever waits for longer has given up, or asks again. */
export const ANSWER_MS_MAX = 2_750

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the work may take as long as its own time-outs allow: those of scans, or of DNS. */
    mayTakeLong?: true
  }
}

/**
 * Answers as unavailable what a slow database, asked several times over, does not finish in time. What
 * is under way then still ends one way or the other, as when an answer is lost on its way.
 */
export function limitDuration(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    if (route.config?.mayTakeLong) return
    const { handler } = route
    route.handler = function (request, reply) {
      const result: unknown = Reflect.apply(handler, this, [request, reply])
      if (!(result instanceof Promise)) return result
      return within(result, ANSWER_MS_MAX - reply.elapsedTime)
    }
  })
}

/** @throws {Failure} `unavailable` when the work takes longer; it goes on */
export async function within<T>(work: Promise<T>, ms: number): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    reject(Failure.unavailable(new Error('the answer took too long')))
  }, ms)
  try {
    return await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
  }
}

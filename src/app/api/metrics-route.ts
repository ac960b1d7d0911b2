import type { IncomingMessage } from 'node:http'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { HttpRefusal } from '../../platform/http/api/problem.ts'
import { addressOf } from '../../platform/http/forwarded.ts'
import type { AppDependencies, MetricsPage } from './app-dependencies.ts'

/** Headers that a proxy adds: the request then comes from another machine than the proxy's. */
const FORWARDING_HEADERS = ['x-forwarded-for', 'forwarded', 'via', 'x-real-ip'] as const

/** Serves metrics to the networks of `TERSE_METRICS_FROM`; returns 404 to others. */
export const metricsRoute: FastifyPluginAsyncZod<AppDependencies> = async (app, { metrics }) => {
  app.get('/metrics', { schema: { hide: true } }, async (request, reply) => {
    if (!mayRead(request.raw, metrics)) {
      throw new HttpRefusal('not_found', 'There is nothing at this address.')
    }
    return reply.type(metrics.contentType).send(await metrics.text())
  })
}

/** A request that a proxy on this machine forwards does not count as coming from this machine. */
function mayRead(request: IncomingMessage, { readers, trustedProxies }: MetricsPage): boolean {
  const { headers, socket } = request
  const remoteAddress = socket.remoteAddress ?? ''
  const isForwarded = FORWARDING_HEADERS.some((name) => headers[name] !== undefined)
  if (isForwarded && !trustedProxies.has(remoteAddress)) return false
  return readers.has(addressOf(request, trustedProxies))
}

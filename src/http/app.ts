import { randomUUID } from 'node:crypto'
import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import { meterApi } from './api-meter.ts'
import type { AppDependencies } from './app-dependencies.ts'
import { authenticate, authorize } from './authentication.ts'
import { compressAnswers } from './compression/compress-answers.ts'
import { Compressor } from './compression/compressor.ts'
import { allowOtherOrigins, answerPreflight, isPreflight } from './cross-origin.ts'
import { limitDuration } from './deadline.ts'
import { tagAnswers } from './entity-tags.ts'
import { acceptJsonOnly, BODY_BYTES_MAX } from './json-body.ts'
import { collectMethods, refuseOtherMethods } from './method-not-allowed.ts'
import { describeApi } from './openapi.ts'
import { HttpRefusal, sendError } from './problem.ts'
import { limitRate, limitWorkspaceRate } from './rate-limit.ts'
import { clickRoutes } from './routes/clicks.ts'
import { domainHttpsRoutes } from './routes/domain-https.ts'
import { domainRoutes } from './routes/domains.ts'
import { linkRoutes } from './routes/links.ts'
import { metricsRoute } from './routes/metrics.ts'
import { qrCodeRoutes } from './routes/qr-code.ts'
import { serviceRoutes } from './routes/service.ts'
import { usageRoutes } from './routes/usage.ts'
import { validate } from './validation.ts'

const API_ROUTES = [
  linkRoutes,
  qrCodeRoutes,
  domainRoutes,
  domainHttpsRoutes,
  clickRoutes,
  usageRoutes,
]

/** The API and what else the service's own host answers. The caller brings the HTTP server. */
export async function buildApp(
  deps: AppDependencies,
  logger: FastifyBaseLogger,
): Promise<FastifyInstance> {
  const app = fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_BYTES_MAX,
    genReqId: () => randomUUID(),
    // A child for each request would hold its id; here what is logged of a request names it.
    childLoggerFactory: (parent) => parent,
    frameworkErrors(error, request, reply) {
      setCommonHeaders(request, reply)
      sendError(error, request, reply)
    },
    routerOptions: { maxParamLength: 256 },
    schemaController: {
      compilersFactory: { buildValidator: notFastifys, buildSerializer: notFastifys },
    },
  }).withTypeProvider<ZodTypeProvider>()

  app.setValidatorCompiler(validate)
  app.setSerializerCompiler(() => JSON.stringify)
  app.setErrorHandler(sendError)
  app.setNotFoundHandler(async () => {
    throw nothingHere()
  })
  acceptJsonOnly(app)
  app.decorateRequest('token', null)
  app.addHook('onRequest', async (request, reply) => {
    setCommonHeaders(request, reply)
    if (isPreflight(request)) return answerPreflight(reply)
    // Before the body is read, which would have faults of its own to tell.
    if (request.is404) throw nothingHere()
    await authenticate(deps.authenticator, request)
    if (deps.rateLimit > 0) limitRate(deps.throttle, deps.rateLimit, request, reply)
    await limitWorkspaceRate(deps, request)
    authorize(request)
  })

  const compressor = new Compressor((err) => logger.warn({ err }, 'compression failed'))
  app.addHook('onClose', () => compressor.close())
  tagAnswers(app)
  compressAnswers(app, compressor)
  limitDuration(app)
  meterApi(app, deps.apiMeter)
  const methodsOf = collectMethods(app)
  if (deps.servesApi) await describeApi(app, compressor)
  await app.register(serviceRoutes, deps)
  await app.register(metricsRoute, deps)
  for (const routes of deps.servesApi ? API_ROUTES : []) {
    await app.register(routes, { ...deps, prefix: '/api/v1' })
  }
  refuseOtherMethods(app, methodsOf)
  await app.ready()
  return app
}

function setCommonHeaders(request: FastifyRequest, reply: FastifyReply): void {
  reply.headers({
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'X-Request-Id': request.id,
  })
  allowOtherOrigins(request, reply)
}

/** In the place of compilers that Fastify would load, which takes long, and never ask. */
function notFastifys(): never {
  throw new Error('schemas are compiled by zod')
}

function nothingHere(): HttpRefusal {
  return new HttpRefusal('not_found', 'There is nothing at this address.')
}

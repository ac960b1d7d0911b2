import { randomUUID } from 'node:crypto'
import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import type { FastifyPluginAsyncZod, ZodTypeProvider } from 'fastify-type-provider-zod'
import { mcpRoute } from '../../assistants/mcp.ts'
import { oauthRoutes } from '../../assistants/oauth-routes.ts'
import { assistantRoutes } from '../../assistants/routes.ts'
import { clickRoutes, liveRoutes } from '../../clicks/routes.ts'
import { variantRoutes } from '../../clicks/variant-routes.ts'
import { compatRoutes, compatServices } from '../../compat/routes.ts'
import { conversionReportRoute, conversionRoutes } from '../../conversions/routes.ts'
import { conversionSettingsRoutes } from '../../conversions/settings-routes.ts'
import { domainHttpsRoutes, domainRoutes } from '../../domains/routes.ts'
import { domainSettingsRoutes } from '../../domains/settings-routes.ts'
import { eventRoutes } from '../../events/routes.ts'
import { explainRoutes } from '../../explain/routes.ts'
import { exportRoutes } from '../../exports/routes.ts'
import {
  type AuthenticationDependencies,
  authenticate,
  authorize,
  breakOffWithAccess,
  callerOf,
  nameOperations,
} from '../../identity/authentication.ts'
import { invitationRoutes, memberRoutes } from '../../identity/members/routes.ts'
import { oidcBrowserRoutes, oidcRoutes } from '../../identity/oidc/routes.ts'
import { accountRoutes, meRoutes, passwordResetRoutes } from '../../identity/people/routes.ts'
import { limitRequests, type RequestLimits, usageRoutes } from '../../identity/quotas/routes.ts'
import { secondFactorRoutes } from '../../identity/second-factors/routes.ts'
import { sessionRoutes, setupRoutes } from '../../identity/sign-in/routes.ts'
import { tokenRoutes } from '../../identity/tokens/routes.ts'
import { workspaceRoutes } from '../../identity/workspaces/routes.ts'
import { importRoutes } from '../../imports/routes.ts'
import { bulkRoutes } from '../../links/bulk-routes.ts'
import { labelRoutes } from '../../links/label-routes.ts'
import { linkExportRoutes } from '../../links/link-export.ts'
import { type OembedDependencies, oembedRoute } from '../../links/previews/oembed-route.ts'
import { imageFiles, previewRoutes } from '../../links/previews/routes.ts'
import { qrCodeRoutes } from '../../links/qr/routes.ts'
import { revertRoutes } from '../../links/revert-routes.ts'
import { keyRoutes, linkRoutes } from '../../links/routes.ts'
import { ruleRoutes } from '../../links/rule-routes.ts'
import { ruleSetRoutes } from '../../links/rule-sets/routes.ts'
import { tagRoutes } from '../../links/tag-routes.ts'
import { utmTemplateRoutes } from '../../links/utm-templates/routes.ts'
import { instanceRoutes } from '../../operations/routes.ts'
import { collectPaths } from '../../platform/http/api/api-paths.ts'
import {
  allowOtherOrigins,
  answerPreflight,
  isPreflight,
} from '../../platform/http/api/cross-origin.ts'
import { tagAnswers } from '../../platform/http/api/entity-tags.ts'
import { refuseUnhonouredKeys } from '../../platform/http/api/idempotency.ts'
import { sendError } from '../../platform/http/api/problem.ts'
import { type ApiMeter, limitDuration, meterApi } from '../../platform/http/api/request-timing.ts'
import { locateCreated } from '../../platform/http/api/responses.ts'
import { acceptJsonOnly, BODY_BYTES_MAX, validate } from '../../platform/http/api/validation.ts'
import { compressAnswers } from '../../platform/http/compression/compress-answers.ts'
import { Compressor } from '../../platform/http/compression/compressor.ts'
import { dashboard } from '../../platform/http/dashboard/dashboard.ts'
import { StateLog } from '../../platform/log/state-log.ts'
import type { Mailer } from '../../platform/mail/mailer.ts'
import { webhookRoutes } from '../../webhooks/routes.ts'
import { describeApi } from './openapi.ts'
import { type ServiceRouteDependencies, serviceRoutes } from './service-routes.ts'

/** The routes of the API. Each names in its type what it needs. */
const API_ROUTES = [
  linkRoutes,
  keyRoutes,
  ruleRoutes,
  previewRoutes,
  explainRoutes,
  revertRoutes,
  linkExportRoutes,
  bulkRoutes,
  labelRoutes,
  tagRoutes,
  utmTemplateRoutes,
  ruleSetRoutes,
  importRoutes,
  qrCodeRoutes,
  domainRoutes,
  domainHttpsRoutes,
  domainSettingsRoutes,
  clickRoutes,
  variantRoutes,
  liveRoutes,
  conversionRoutes,
  conversionReportRoute,
  conversionSettingsRoutes,
  usageRoutes,
  exportRoutes,
  eventRoutes,
  webhookRoutes,
  setupRoutes,
  sessionRoutes,
  meRoutes,
  workspaceRoutes,
  memberRoutes,
  invitationRoutes,
  tokenRoutes,
  assistantRoutes,
  compatRoutes,
  accountRoutes,
  secondFactorRoutes,
  instanceRoutes,
  oidcRoutes,
  passwordResetRoutes,
] as const

type Needs<Routes> =
  Routes extends FastifyPluginAsyncZod<infer Needed> ? (needed: Needed) => void : never
/** What all routes of the API need together. */
export type ApiServices = Pick<OembedDependencies, 'shownLinks'> &
  (Needs<(typeof API_ROUTES)[number] | typeof oidcBrowserRoutes | typeof oauthRoutes> extends (
    needed: infer All,
  ) => void
    ? All
    : never)

/** What the application needs besides the services of its routes. */
export type AppDependencies = AuthenticationDependencies &
  ServiceRouteDependencies &
  RequestLimits & {
    /** Undefined for a node that has only the routes that every node has. */
    readonly api: ApiServices | undefined
    /** Undefined when no mail is sent. */
    readonly mailer: Mailer | undefined
    /** How long an answer may take; `ANSWER_MS_MAX` where undefined. */
    readonly answerMsMax?: number | undefined
    readonly apiMeter: ApiMeter
  }

const ROUTER = { maxParamLength: 256 }

/** Builds the API and the other routes of the service's own host. The caller provides the HTTP server. */
export async function buildApp(
  deps: AppDependencies,
  logger: FastifyBaseLogger,
): Promise<FastifyInstance> {
  const unavailable = new StateLog({
    log: logger,
    level: 'warn',
    begins: 'requests refused',
    ends: 'requests no longer refused',
  })
  const app = fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_BYTES_MAX,
    genReqId: () => randomUUID(),
    // Log lines of a request carry its id, so a child logger for each request is not needed.
    childLoggerFactory: (parent) => parent,
    frameworkErrors(error, request, reply) {
      setCommonHeaders(request, reply)
      sendError(error, { request, reply, unavailable })
    },
    routerOptions: ROUTER,
    schemaController: {
      compilersFactory: { buildValidator: refuseToCompile, buildSerializer: refuseToCompile },
    },
  }).withTypeProvider<ZodTypeProvider>()

  app.setValidatorCompiler(validate)
  app.setSerializerCompiler(() => JSON.stringify)
  app.setErrorHandler((error, request, reply) => sendError(error, { request, reply, unavailable }))
  const paths = collectPaths(app, ROUTER)
  app.setNotFoundHandler(async ({ url }) => {
    throw paths.refusalOf(url)
  })
  acceptJsonOnly(app)
  nameOperations(app)
  locateCreated(app)
  refuseUnhonouredKeys(app)
  app.addHook('onRequest', async (request, reply) => {
    setCommonHeaders(request, reply)
    if (isPreflight(request)) return answerPreflight(reply)
    // Before the body is read: a missing route is reported rather than an invalid body.
    if (request.is404) throw paths.refusalOf(request.url)
    await authenticate(deps, request)
    const isLimited =
      request.routeOptions.config.operation !== undefined && callerOf(request) === undefined
    if (isLimited) await limitRequests(deps, request, reply)
    authorize(request)
  })

  const compressor = new Compressor((err) => logger.warn({ err }, 'compression failed'))
  app.addHook('onClose', () => compressor.close())
  app.addHook('onClose', () => deps.mailer?.stop())
  tagAnswers(app)
  breakOffWithAccess(app, deps)
  compressAnswers(app, compressor)
  limitDuration(app, deps.answerMsMax)
  meterApi(app, deps.apiMeter, paths)
  await app.register(serviceRoutes, deps)
  if (deps.api !== undefined) await registerApi(app, deps.api, deps, compressor)
  paths.refuseMethodsOfPatterns()
  await app.ready()
  return app
}

async function registerApi(
  app: FastifyInstance,
  services: ApiServices,
  limits: RequestLimits,
  compressor: Compressor,
): Promise<void> {
  await describeApi(app, compressor)
  await app.register(dashboard, { compressor })
  await app.register(imageFiles, services)
  const all: readonly FastifyPluginAsyncZod<ApiServices>[] = API_ROUTES
  for (const routes of all) await app.register(routes, { ...services, prefix: '/api/v1' })
  await app.register(oidcBrowserRoutes, services)
  await app.register(oauthRoutes, services)
  const programs = {
    ...services,
    log: app.log,
    limitRequests: (request: FastifyRequest, reply: FastifyReply) =>
      limitRequests(limits, request, reply),
  }
  await app.register(mcpRoute, programs)
  await app.register(compatServices, programs)
  await app.register(oembedRoute, programs)
}

function setCommonHeaders(request: FastifyRequest, reply: FastifyReply): void {
  reply.headers({
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'X-Request-Id': request.id,
  })
  allowOtherOrigins(request, reply)
}

/** Replaces Fastify's own compilers, which take long to load and are never called. */
function refuseToCompile(): never {
  throw new Error('schemas are compiled by zod')
}

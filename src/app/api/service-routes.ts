import type { IncomingMessage } from 'node:http'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { IMAGE_FOLDER, OEMBED_PATH } from '../../links/index.ts'
import { HttpRefusal, problem } from '../../platform/http/api/problem.ts'
import { addressOf } from '../../platform/http/forwarded.ts'
import type { Networks } from '../../platform/network/ip-address.ts'
import type { Readiness } from '../../platform/process/readiness.ts'

/** A node with this role is ready as soon as redirects work; the API may still be loading. */
const VISITORS_ROLE = 'redirect'
const RETRY_AFTER_SECONDS = 2
/** Headers that a proxy adds: the request then comes from another machine than the proxy's. */
const FORWARDING_HEADERS = ['x-forwarded-for', 'forwarded', 'via', 'x-real-ip'] as const

/**
 * Programs that show links may load short links of this host, and all programs what is shown of links, with its images:
 * those that obey this file would show neither. No answer to a visit is indexed, by its header. A rule without an end would also be one for links
 * such as `/apple` (RFC 9309, section 2.2.2).
 */
const ROBOTS = `User-agent: facebookexternalhit
User-agent: Twitterbot
User-agent: LinkedInBot
User-agent: Slackbot
User-agent: Discordbot
User-agent: TelegramBot
User-agent: WhatsApp
User-agent: Applebot
User-agent: Pinterestbot
User-agent: redditbot
Disallow: /api/
Disallow: /app$
Disallow: /app/
Disallow: /docs$
Disallow: /docs/

User-agent: *
Allow: ${IMAGE_FOLDER}
Allow: ${OEMBED_PATH}?
Disallow: /
`

export type ServiceRouteDependencies = {
  readonly readiness: Readiness
  /** Faults for an operator to see in `/readyz`. */
  readonly health: () => Health
  readonly countedUntil: () => Promise<string | null>
  /** See `Observation`. */
  readonly clicksFault: () => Promise<string | null>
  readonly metrics: MetricsPage
}

export type Health = {
  /** See `LostClicks`. */
  readonly lost_clicks: number
  /** Clicks that may not have reached a failing disk; they are counted unless the machine stops. */
  readonly doubtful_clicks: number
  /** Files of the data folder that the last check found damaged. */
  readonly damaged_files: readonly string[]
  /** Why nothing can be written to the data folder, for people; null while it can. */
  readonly data_folder_fault: string | null
  /** Why no click can be stored, for people; null while they can. */
  readonly journal_fault: string | null
  /** Whether less than `TERSE_DISK_LOW_PERCENT` of the disk of the data folder is free. */
  readonly is_disk_low: boolean
}

/** What `/metrics` returns, and which networks may read it. */
type MetricsPage = {
  readonly contentType: string
  text(): Promise<string>
  readonly readers: Networks
  readonly trustedProxies: Networks
}

/** The routes of the service's own host besides the API and the links. */
export const serviceRoutes: FastifyPluginAsyncZod<ServiceRouteDependencies> = async (app, deps) => {
  const hidden = { schema: { hide: true } }

  app.get('/', hidden, async (_request, reply) => reply.redirect('/app', 302))

  app.get('/robots.txt', hidden, async (_request, reply) =>
    reply.type('text/plain; charset=utf-8').send(ROBOTS),
  )

  app.get('/favicon.ico', hidden, async (_request, reply) =>
    reply.code(204).header('Cache-Control', 'public, max-age=86400').send(),
  )

  app.get('/livez', hidden, async () => ({ status: 'ok' }))

  const asked = { hide: true, querystring: z.object({ role: z.string().optional() }) }
  app.get('/readyz', { schema: asked }, async ({ query }, reply) => {
    deps.readiness.noteProbe()
    const checked = await deps.readiness.check()
    const states = [...checked].map(([role, can]) => [role, can ? 'ok' : 'unavailable'])
    const roles = Object.fromEntries(states)
    const [counted_until, clicks_fault] = await Promise.all([
      deps.countedUntil(),
      deps.clicksFault(),
    ])
    const health = { ...deps.health(), clicks_fault, counted_until }
    if (isReady(checked, query.role)) {
      // Still ready: undamaged files are served, and another node over the same files could do no more.
      const { damaged_files, data_folder_fault, journal_fault } = health
      const fault = data_folder_fault ?? journal_fault ?? clicks_fault
      const isDegraded = damaged_files.length > 0 || fault !== null
      const status = isDegraded ? 'degraded' : 'ok'
      return { status, roles, ...health }
    }
    const { isStopping } = deps.readiness
    const fault = health.data_folder_fault ?? 'This node cannot do its work now.'
    const message = isStopping ? 'This node is stopping.' : fault
    reply.code(503).header('Retry-After', String(RETRY_AFTER_SECONDS))
    return { ...problem('unavailable', message, reply.request.id), roles, ...health }
  })

  // Others than the networks of `TERSE_METRICS_FROM` get 404.
  app.get('/metrics', { schema: { hide: true } }, async (request, reply) => {
    if (!mayRead(request.raw, deps.metrics)) {
      throw new HttpRefusal('not_found', 'There is nothing at this address.')
    }
    return reply.type(deps.metrics.contentType).send(await deps.metrics.text())
  })
}

/** @param role the requested role; undefined for the node as a whole */
function isReady(roles: ReadonlyMap<string, boolean>, role: string | undefined): boolean {
  if (role !== undefined) return roles.get(role) ?? false
  return roles.get(VISITORS_ROLE) ?? [...roles.values()].every(Boolean)
}

/** A request that a proxy on this machine forwards does not count as coming from this machine. */
function mayRead(request: IncomingMessage, { readers, trustedProxies }: MetricsPage): boolean {
  const { headers, socket } = request
  const remoteAddress = socket.remoteAddress ?? ''
  const isForwarded = FORWARDING_HEADERS.some((name) => headers[name] !== undefined)
  if (isForwarded && !trustedProxies.has(remoteAddress)) return false
  return readers.has(addressOf(request, trustedProxies))
}

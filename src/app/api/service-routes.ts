import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { problem } from '../../platform/http/api/problem.ts'
import type { AppDependencies } from './app-dependencies.ts'

/** A node with this role is ready as soon as redirects work; the API may still be loading. */
const VISITORS_ROLE = 'redirect'
const RETRY_AFTER_SECONDS = 2

/** The routes of the service's own host besides the API and the links. */
export const serviceRoutes: FastifyPluginAsyncZod<AppDependencies> = async (app, deps) => {
  const hidden = { schema: { hide: true } }

  app.get('/', hidden, async (_request, reply) => reply.redirect('/app', 302))

  app.get('/robots.txt', hidden, async (_request, reply) =>
    reply.type('text/plain; charset=utf-8').send('User-agent: *\nDisallow: /\n'),
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
    const health = { ...deps.health(), counted_until: await deps.countedUntil() }
    if (isReady(checked, query.role)) {
      // Still ready: undamaged files are served, and another node over the same files could do no more.
      const { damaged_files, data_folder_fault, journal_fault } = health
      const isDegraded = damaged_files.length > 0 || (data_folder_fault ?? journal_fault) !== null
      const status = isDegraded ? 'degraded' : 'ok'
      return { status, roles, ...health }
    }
    const { isStopping } = deps.readiness
    const fault = health.data_folder_fault ?? 'This node cannot do its work now.'
    const message = isStopping ? 'This node is stopping.' : fault
    reply.code(503).header('Retry-After', String(RETRY_AFTER_SECONDS))
    return { ...problem('unavailable', message, reply.request.id), roles, ...health }
  })
}

/** @param role the requested role; undefined for the node as a whole */
function isReady(roles: ReadonlyMap<string, boolean>, role: string | undefined): boolean {
  if (role !== undefined) return roles.get(role) ?? false
  return roles.get(VISITORS_ROLE) ?? [...roles.values()].every(Boolean)
}

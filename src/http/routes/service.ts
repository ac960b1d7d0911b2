import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import type { AppDependencies } from '../app-dependencies.ts'

/** What the service's own host answers besides the API and the links. */
export const serviceRoutes: FastifyPluginAsyncZod<AppDependencies> = async (app, deps) => {
  const hidden = { schema: { hide: true } }

  app.get('/', hidden, async (_request, reply) => reply.redirect('/docs', 302))

  app.get('/robots.txt', hidden, async (_request, reply) =>
    reply.type('text/plain; charset=utf-8').send('User-agent: *\nDisallow: /\n'),
  )

  app.get('/favicon.ico', hidden, async (_request, reply) =>
    reply.code(204).header('Cache-Control', 'public, max-age=86400').send(),
  )

  app.get('/livez', hidden, async () => ({ status: 'ok' }))

  app.get('/readyz', hidden, async () => ({ status: 'ok', ...(await deps.health()) }))
}

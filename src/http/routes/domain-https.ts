import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { domainHttpsBody, domainHttpsSchema } from '../../contract/domain-https.ts'
import { idParams, ifMatchHeaders, ifNoneMatchHeaders } from '../../contract/primitives.ts'
import { httpsVersion } from '../../domain/domains/domain-https.ts'
import type { AppDependencies } from '../app-dependencies.ts'
import { workspaceOf } from '../authentication.ts'
import { entityTag, expectedVersions } from '../entity-tags.ts'
import { presentDomainHttps } from '../present.ts'
import { CHANGED, FAILURES, INVALID, NOT_FOUND, NOT_MODIFIED } from './responses.ts'

const tags = ['Domains']

/** Beside the domain itself, whose fields the specification has settled. */
export const domainHttpsRoutes: FastifyPluginAsyncZod<AppDependencies> = async (app, deps) => {
  app.get(
    '/domains/:id/https',
    {
      config: { scope: 'domains:read' },
      schema: {
        tags,
        summary: 'Show the certificate of a domain, and whether it asks for HTTPS alone',
        params: idParams,
        headers: ifNoneMatchHeaders,
        response: { 200: domainHttpsSchema, ...NOT_MODIFIED, ...NOT_FOUND, ...FAILURES },
      },
    },
    async (request, reply) => {
      const state = await deps.domainHttps.get(workspaceOf(request), request.params.id)
      const shown = presentDomainHttps(state)
      const tag = entityTag(JSON.stringify(shown), httpsVersion(state))
      return reply.header('ETag', tag).send(shown)
    },
  )

  app.put(
    '/domains/:id/https',
    {
      config: { scope: 'domains:write' },
      schema: {
        tags,
        summary: 'Have browsers use HTTPS alone (HSTS), or no more',
        params: idParams,
        headers: ifMatchHeaders,
        body: domainHttpsBody,
        response: { 200: domainHttpsSchema, ...NOT_FOUND, ...CHANGED, ...INVALID, ...FAILURES },
      },
    },
    async (request) =>
      presentDomainHttps(
        await deps.domainHttps.setHsts(
          workspaceOf(request),
          request.params.id,
          request.body.hsts_max_age,
          expectedVersions(request),
        ),
      ),
  )
}

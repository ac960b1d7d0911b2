import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { domainHttpsBody, domainHttpsSchema } from '../../contract/domain-https.ts'
import { idParams } from '../../contract/primitives.ts'
import type { AppDependencies } from '../app-dependencies.ts'
import { workspaceOf } from '../authentication.ts'
import { presentDomainHttps } from '../present.ts'
import { FAILURES, INVALID, NOT_FOUND } from './responses.ts'

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
        response: { 200: domainHttpsSchema, ...NOT_FOUND, ...FAILURES },
      },
    },
    async (request) =>
      presentDomainHttps(await deps.domainHttps.get(workspaceOf(request), request.params.id)),
  )

  app.put(
    '/domains/:id/https',
    {
      config: { scope: 'domains:write' },
      schema: {
        tags,
        summary: 'Have browsers use HTTPS alone (HSTS), or no more',
        params: idParams,
        body: domainHttpsBody,
        response: { 200: domainHttpsSchema, ...NOT_FOUND, ...INVALID, ...FAILURES },
      },
    },
    async (request) =>
      presentDomainHttps(
        await deps.domainHttps.setHsts(
          workspaceOf(request),
          request.params.id,
          request.body.hsts_max_age,
        ),
      ),
  )
}

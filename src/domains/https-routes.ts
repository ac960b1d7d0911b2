import { domainHttpsBody, domainHttpsSchema } from '@terse/contract/domain-https'
import { idParams, ifMatchHeaders, ifNoneMatchHeaders } from '@terse/contract/primitives'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { actorOf } from '../identity/index.ts'
import { entityTag, expectedVersions } from '../platform/http/api/entity-tags.ts'
import { type DomainHttps, httpsVersion } from './domain-https.ts'
import { presentDomainHttps } from './present.ts'

const tags = ['Domains']

/** A resource of its own: the specification fixes the fields of a domain. */
export type HttpsRouteDependencies = { readonly domainHttps: DomainHttps }

export const domainHttpsRoutes: FastifyPluginAsyncZod<HttpsRouteDependencies> = async (
  app,
  deps,
) => {
  app.get(
    '/domains/:id/https',
    {
      schema: {
        tags,
        operationId: 'domains.getHttps',
        summary: 'Show the HTTPS settings of a domain',
        description: 'Returns the certificate of the domain, and the `max-age` of its HSTS header.',
        params: idParams,
        headers: ifNoneMatchHeaders,
        response: { 200: domainHttpsSchema },
      },
    },
    async (request, reply) => {
      const state = await deps.domainHttps.get(actorOf(request), request.params.id)
      const shown = presentDomainHttps(state)
      const tag = entityTag(JSON.stringify(shown), httpsVersion(state))
      return reply.header('ETag', tag).send(shown)
    },
  )

  app.put(
    '/domains/:id/https',
    {
      schema: {
        tags,
        operationId: 'domains.updateHttps',
        summary: 'Change the HTTPS settings of a domain',
        description:
          'Sets the `max-age` of the HSTS header: for how long browsers use only HTTPS for the domain.',
        params: idParams,
        headers: ifMatchHeaders,
        body: domainHttpsBody,
        response: { 200: domainHttpsSchema },
      },
    },
    async (request) =>
      presentDomainHttps(
        await deps.domainHttps.setHsts(
          actorOf(request),
          request.params.id,
          request.body.hsts_max_age,
          expectedVersions(request),
        ),
      ),
  )
}

import { faultText } from '@terse/contract/faults'
import {
  type KeyAvailabilityResource,
  keyAvailability,
  keyAvailabilityQuery,
} from '@terse/contract/link-keys'
import { ifNoneMatchHeaders } from '@terse/contract/primitives'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { actorOf } from '../identity/index.ts'
import { presentFault } from '../platform/http/api/problem.ts'
import { FAILURES, INVALID_QUERY, NOT_MODIFIED } from '../platform/http/api/responses.ts'
import type { KeyAvailability, LinkKeys } from './link-keys.ts'

export type KeyRouteDependencies = { readonly linkKeys: LinkKeys }

export const keyRoutes: FastifyPluginAsyncZod<KeyRouteDependencies> = async (app, deps) => {
  app.get(
    '/links/key-availability',
    {
      schema: {
        tags: ['Links'],
        operationId: 'links.checkKey',
        summary: 'Check whether a key is free',
        description:
          'Returns whether a link could be created with this key on this domain, why not, and a generated key that is free. The answer reserves nothing.',
        headers: ifNoneMatchHeaders,
        querystring: keyAvailabilityQuery,
        response: { 200: keyAvailability, ...NOT_MODIFIED, ...INVALID_QUERY, ...FAILURES },
      },
    },
    async (request) => {
      const { domain, key } = request.query
      return present(await deps.linkKeys.check(actorOf(request), domain, key))
    },
  )
}

function present({ host, key, fault, suggestion }: KeyAvailability): KeyAvailabilityResource {
  return {
    domain: host,
    key: key ?? null,
    available: key === undefined ? null : fault === undefined,
    reason: fault?.reason ?? null,
    message: fault === undefined ? null : faultText(fault.fault),
    fault: fault === undefined ? null : presentFault(fault.fault),
    suggestion,
  }
}

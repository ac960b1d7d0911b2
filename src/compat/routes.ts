import { compatBody, compatItem, compatList, compatParams } from '@terse/contract/compat'
import { pageQuery } from '@terse/contract/pagination'
import { ifNoneMatchHeaders } from '@terse/contract/primitives'
import type { FastifyPluginAsync } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { actorOf } from '../identity/index.ts'
import { type WalkContext, wholeList } from '../platform/http/api/walk.ts'
import { bitly } from './bitly/bitly.ts'
import type { CompatDependencies } from './clients.ts'
import type { Compat } from './compat.ts'
import { kutt } from './kutt/kutt.ts'
import { polr } from './polr/polr.ts'
import { shlink } from './shlink/shlink.ts'
import { yourls } from './yourls/yourls.ts'

export type CompatRouteDependencies = WalkContext & { readonly compat: Compat }

const tags = ['Other services']

/** Which APIs of other services a workspace answers. */
export const compatRoutes: FastifyPluginAsyncZod<CompatRouteDependencies> = async (app, deps) => {
  const { compat } = deps
  app.get(
    '/compat',
    {
      schema: {
        tags,
        operationId: 'compat.list',
        summary: 'List the APIs of other services',
        description: 'Returns for which services the workspace answers, and where.',
        headers: ifNoneMatchHeaders,
        querystring: pageQuery,
        response: { 200: compatList },
      },
    },
    async (request) => {
      const actor = actorOf(request)
      const services = await compat.list(actor)
      return wholeList(request, deps, request.query, {
        owner: actor.workspaceId,
        items: services,
        orderOf: (each) => [services.indexOf(each), each.service],
        present: (each) => each,
      })
    },
  )

  app.put(
    '/compat/:service',
    {
      schema: {
        tags,
        operationId: 'compat.update',
        summary: 'Switch the API of another service on or off',
        description:
          'All are off at first. Creating a token with the scope of a service switches its API on.',
        params: compatParams,
        body: compatBody,
        response: { 200: compatItem },
      },
    },
    (request) => compat.enable(actorOf(request), request.params.service, request.body.enabled),
  )
}

const SERVICES = [yourls, kutt, polr, shlink, bitly]

/**
 * The APIs of other services, each in a context of its own: bodies and errors have the forms of that service. They are no
 * operations: what they do, they do through ours.
 */
export const compatServices: FastifyPluginAsync<CompatDependencies> = async (app, deps) => {
  for (const service of SERVICES) await app.register(service, deps)
}

import {
  compatBody,
  compatItem,
  compatList,
  compatParams,
  compatQuery,
} from '@terse/contract/compat'
import { ifNoneMatchHeaders } from '@terse/contract/primitives'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { actorOf } from '../identity/index.ts'
import type { Compat } from './compat.ts'

const tags = ['Other services']

export const compatRoutes: FastifyPluginAsyncZod<{ readonly compat: Compat }> = async (
  app,
  { compat },
) => {
  app.get(
    '/compat',
    {
      schema: {
        tags,
        operationId: 'compat.list',
        summary: 'List the APIs of other services',
        description: 'Returns for which services the workspace answers, and where.',
        headers: ifNoneMatchHeaders,
        querystring: compatQuery,
        response: { 200: compatList },
      },
    },
    async (request) => ({ data: await compat.list(actorOf(request)) }),
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

import { eventPage, listEventsQuery } from '@terse/contract/events'
import { ifNoneMatchHeaders } from '@terse/contract/primitives'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { type EventRouteDependencies, listEvents } from './list-events.ts'

export const eventRoutes: FastifyPluginAsyncZod<EventRouteDependencies> = async (app, deps) => {
  app.get(
    '/events',
    {
      config: { mayTakeLong: true },
      schema: {
        tags: ['Workspace'],
        operationId: 'events.list',
        summary: 'List events',
        description:
          'Returns what was changed in the workspace, by whom, and how, a page at a time, the newest first.',
        headers: ifNoneMatchHeaders,
        querystring: listEventsQuery,
        response: { 200: eventPage },
      },
    },
    (request) => listEvents(request, request.query, deps),
  )
}

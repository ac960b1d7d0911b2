import {
  type EventPageResource,
  eventPage,
  type ListEventsQuery,
  listEventsQuery,
} from '@terse/contract/events'
import { linkHistoryPage, linkHistoryQuery } from '@terse/contract/link-history'
import { idParams, ifNoneMatchHeaders } from '@terse/contract/primitives'
import type { FastifyRequest } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import type { z } from 'zod'
import { actorOf } from '../identity/index.ts'
import { FaultList } from '../platform/failure.ts'
import { uncountedPage, type WalkContext } from '../platform/http/api/walk.ts'
import { parseInstant } from '../platform/time/clock.ts'
import type { Events } from './events.ts'
import type { LinkHistory } from './link-history.ts'
import { presentChange, presentEvent } from './present.ts'
import type { Event, EventMark, NamedEvent } from './store/event-store.ts'

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

  app.get(
    '/links/:id/history',
    {
      schema: {
        tags: ['Links'],
        operationId: 'links.getHistory',
        summary: 'Show the changes of a link',
        description:
          'Returns who changed what of the link, and when, a page at a time, the newest first, as long as the event log keeps it.',
        params: idParams,
        headers: ifNoneMatchHeaders,
        querystring: linkHistoryQuery,
        response: { 200: linkHistoryPage },
      },
    },
    (request) => listChanges(request, deps),
  )
}

async function listChanges(
  request: FastifyRequest<{
    Params: { id: string }
    Querystring: z.output<typeof linkHistoryQuery>
  }>,
  { linkHistory, ...context }: EventRouteDependencies,
): Promise<z.output<typeof linkHistoryPage>> {
  const actor = actorOf(request)
  const { id } = request.params
  const { data, ...envelope } = await uncountedPage<Event, EventMark>(request, request.query, {
    context,
    owner: [actor.workspaceId, id],
    read: (run) => linkHistory.list(actor, id, run),
  })
  return { ...envelope, data: data.map(presentChange) }
}

type EventRouteDependencies = WalkContext & {
  readonly events: Events
  readonly linkHistory: LinkHistory
}

/** Returns a page of the workspace's events. It has no total: counting a year of events takes too long. */
async function listEvents(
  request: FastifyRequest,
  query: ListEventsQuery,
  { events, ...context }: EventRouteDependencies,
): Promise<EventPageResource> {
  const actor = actorOf(request)
  const filter = { types: query.type, subjectId: query.subject, actorId: query.actor }
  const period = periodOf(query)
  const { data, ...envelope } = await uncountedPage<NamedEvent, EventMark>(request, query, {
    context,
    owner: [actor.workspaceId, filter, period],
    read: (run) => events.list(actor, { ...filter, ...period, ...run }),
  })
  return { ...envelope, data: data.map(presentEvent) }
}

/** @throws {Failure} `validation_failed` */
function periodOf({ from, to }: ListEventsQuery) {
  const faults = new FaultList()
  const fromMicros = from === undefined ? undefined : faults.take('from', parseInstant(from))
  const toMicros = to === undefined ? undefined : faults.take('to', parseInstant(to))
  if (fromMicros !== undefined && toMicros !== undefined && fromMicros >= toMicros) {
    faults.add('from', { code: 'invalid_period', reason: 'reversed' })
  }
  faults.throwIfAny()
  return { fromMicros, toMicros }
}

import {
  type EventPageResource,
  eventPage,
  type ListEventsQuery,
  listEventsQuery,
} from '@terse/contract/events'
import { PER_PAGE_DEFAULT } from '@terse/contract/pagination'
import { ifNoneMatchHeaders } from '@terse/contract/primitives'
import type { FastifyRequest } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { actorOf } from '../identity/index.ts'
import { FaultList } from '../platform/failure.ts'
import { addressesOf } from '../platform/http/api/pagination.ts'
import type { WalkContext } from '../platform/http/api/walk.ts'
import { parseInstant } from '../platform/time/clock.ts'
import type { Events } from './events.ts'
import { presentEvent } from './present.ts'
import type { EventMark } from './store/event-store.ts'

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

type EventRouteDependencies = WalkContext & { readonly events: Events }

/** Returns a page of the workspace's events. It has no total: counting a year of events takes too long. */
async function listEvents(
  request: FastifyRequest,
  query: ListEventsQuery,
  { events, baseUrl, cursors }: EventRouteDependencies,
): Promise<EventPageResource> {
  const actor = actorOf(request)
  const filter = { types: query.type, subjectId: query.subject, actorId: query.actor }
  const period = periodOf(query)
  const name = JSON.stringify([request.routeOptions.url, actor.workspaceId, filter, period])
  const { cursor = '', per_page: limit = PER_PAGE_DEFAULT } = query
  const from = cursor === '' ? undefined : cursors.read<EventMark>(cursor, name)
  const { index = 0, mark: beyond } = from ?? {}
  const { items, rest } = await events.list(actor, { ...filter, ...period, limit, beyond })

  const { path, urlOf } = addressesOf(request, baseUrl, 'cursor')
  const to = index + items.length
  const position = { mark: rest, isReversed: false, index: to, total: 0 }
  const nextCursor = rest === undefined ? null : cursors.write(position, name)
  const next = nextCursor === null ? null : urlOf(nextCursor)
  const page = Math.floor(index / limit) + 1
  return {
    data: items.map(presentEvent),
    links: { first: urlOf(''), last: null, prev: null, next },
    meta: {
      current_page: page,
      from: items.length === 0 ? null : index + 1,
      to: items.length === 0 ? null : to,
      last_page: null,
      per_page: limit,
      total: null,
      path,
      links: [
        { url: null, label: 'Previous', active: false },
        { url: urlOf(cursor), label: String(page), active: true },
        { url: next, label: 'Next', active: false },
      ],
      next_cursor: nextCursor,
    },
  }
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

import type { Readable } from 'node:stream'
import { liveClicksQuery, liveEvent } from '@terse/contract/clicks'
import type { FastifyReply } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { type AuthenticationDependencies, actorOf, mayStill } from '../../identity/index.ts'
import { NOT_FOUND } from '../../platform/http/api/responses.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { LiveClicks } from './live-clicks.ts'

export type LiveRouteDependencies = AuthenticationDependencies & {
  readonly liveClicks: LiveClicks
}

const DESCRIPTION =
  'Sends server-sent events until the client leaves: first `start` with the clicks of the last 30 minutes, then every second at most `clicks` with the new ones. A comment comes every 15 s. `end` is the last event; connect again after a few seconds unless its reason is `unauthorized`. Each click is sent once, and late ones are possible.'

export const liveRoutes: FastifyPluginAsyncZod<LiveRouteDependencies> = async (app, deps) => {
  app.get(
    '/clicks/live',
    {
      config: { mayTakeLong: true, isEndless: true },
      schema: {
        tags: ['Clicks'],
        operationId: 'clicks.live',
        summary: 'Watch clicks as they come',
        description: DESCRIPTION,
        querystring: liveClicksQuery,
        response: {
          ...NOT_FOUND,
          200: {
            description: 'A stream of events.',
            content: { 'text/event-stream': { schema: liveEvent.describe('Of each event.') } },
          },
        },
      },
    },
    async (request, reply) => {
      if (request.method === 'HEAD') return sendEvents(reply, undefined, deps.clock)
      const text = await deps.liveClicks.open(actorOf(request), request.query, () =>
        mayStill(deps, request),
      )
      return sendEvents(reply, text, deps.clock)
    },
  )
}

function sendEvents(reply: FastifyReply, text: Readable | undefined, clock: Clock): FastifyReply {
  reply.headers({
    'Content-Type': 'text/event-stream',
    // A proxy that collected the events would delay them.
    'X-Accel-Buffering': 'no',
    // The dashboard compares its own clock with this one, which dates the clicks.
    Date: new Date(clock.nowMicros() / 1_000).toUTCString(),
  })
  return reply.send(text)
}

import { idempotencyHeaders, idParams, ifNoneMatchHeaders } from '@terse/contract/primitives'
import {
  attemptPage,
  attemptSchema,
  createdWebhookSchema,
  createWebhookBody,
  type ListAttemptsQuery,
  listAttemptsQuery,
  listWebhooksQuery,
  oldSecretEnded,
  patchWebhookBody,
  type ReplayBody,
  replayBody,
  rotateSecretBody,
  webhookDeleted,
  webhookPage,
  webhookSchema,
} from '@terse/contract/webhooks'
import type { FastifyRequest } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { actorOf } from '../identity/index.ts'
import { Failure, FaultList } from '../platform/failure.ts'
import type { Idempotency } from '../platform/http/api/idempotency.ts'
import { envelope, offsetOf, pageRequestOf } from '../platform/http/api/pagination.ts'
import type { FastifyInstanceZod } from '../platform/http/api/responses.ts'
import { uncountedPage, type WalkContext } from '../platform/http/api/walk.ts'
import { parseInstant } from '../platform/time/clock.ts'
import { presentAttempt, presentWebhook } from './present.ts'
import type { PeriodReplay } from './replays.ts'
import type { Attempt } from './store/attempt-store.ts'
import type { Webhooks } from './webhooks.ts'

const tags = ['Webhooks']
const PATH = '/webhooks'
const PATH_OF_ONE = '/webhooks/:id'

export type WebhookRouteDependencies = WalkContext & {
  readonly webhooks: Webhooks
  readonly idempotency: Idempotency
}

export const webhookRoutes: FastifyPluginAsyncZod<WebhookRouteDependencies> = async (app, deps) => {
  registerReads(app, deps)
  registerWrites(app, deps)
  registerSecrets(app, deps)
  registerCalls(app, deps)
}

function registerReads(app: FastifyInstanceZod, deps: WebhookRouteDependencies): void {
  const { webhooks, baseUrl } = deps
  app.get(
    PATH,
    {
      schema: {
        tags,
        operationId: 'webhooks.list',
        summary: 'List webhooks',
        description: 'Returns the endpoints of the workspace, the oldest first.',
        headers: ifNoneMatchHeaders,
        querystring: listWebhooksQuery,
        response: { 200: webhookPage },
      },
    },
    async (request) => {
      const page = pageRequestOf(request.query)
      const found = await webhooks.list(actorOf(request), offsetOf(page), page.perPage)
      const { items, total } = found
      return envelope(request, baseUrl, page, { items: items.map(presentWebhook), total })
    },
  )

  app.get(
    PATH_OF_ONE,
    {
      schema: {
        tags,
        operationId: 'webhooks.get',
        summary: 'Show webhook',
        description: 'Returns one endpoint, and how it does.',
        params: idParams,
        headers: ifNoneMatchHeaders,
        response: { 200: webhookSchema },
      },
    },
    async (request) => presentWebhook(await webhooks.get(actorOf(request), request.params.id)),
  )

  app.get(
    `${PATH_OF_ONE}/attempts`,
    {
      schema: {
        tags,
        operationId: 'webhooks.listAttempts',
        summary: 'List attempts',
        description:
          'Returns what was sent to the endpoint within 7 days and what it answered, a page at a time, the newest first. At most 20,000 attempts are kept.',
        params: idParams,
        headers: ifNoneMatchHeaders,
        querystring: listAttemptsQuery,
        response: { 200: attemptPage },
      },
    },
    (request) => listAttempts(request, { ...deps, id: request.params.id, query: request.query }),
  )
}

function registerWrites(app: FastifyInstanceZod, deps: WebhookRouteDependencies): void {
  const { webhooks, idempotency } = deps
  app.post(
    PATH,
    {
      schema: {
        tags,
        operationId: 'webhooks.create',
        summary: 'Create webhook',
        description:
          'Adds an endpoint, and returns its secret, which cannot be read again. A workspace may have 100.',
        headers: idempotencyHeaders,
        body: createWebhookBody,
        response: { 201: createdWebhookSchema },
      },
    },
    async (request, reply) => {
      const actor = actorOf(request)
      const repeatable = idempotency.read(request, reply, actor)
      const { secret, ...shown } = await webhooks.create(actor, request.body, repeatable)
      return reply.code(201).send({ ...presentWebhook(shown), secret })
    },
  )

  app.patch(
    PATH_OF_ONE,
    {
      schema: {
        tags,
        operationId: 'webhooks.patch',
        summary: 'Change webhook',
        description:
          'Changes the fields that are sent. Events that wait when it is disabled are given up; a replay sends them.',
        params: idParams,
        body: patchWebhookBody,
        response: { 200: webhookSchema },
      },
    },
    async (request) =>
      presentWebhook(await webhooks.update(actorOf(request), request.params.id, request.body)),
  )

  app.delete(
    PATH_OF_ONE,
    {
      schema: {
        tags,
        operationId: 'webhooks.delete',
        summary: 'Delete webhook',
        description: 'Deletes an endpoint with what waits for it and its attempts.',
        params: idParams,
        response: { 200: webhookDeleted },
      },
    },
    async (request) => {
      await webhooks.delete(actorOf(request), request.params.id)
      return { message: 'Webhook deleted' as const }
    },
  )
}

function registerSecrets(app: FastifyInstanceZod, { webhooks }: WebhookRouteDependencies): void {
  app.post(
    `${PATH_OF_ONE}/secret`,
    {
      schema: {
        tags,
        operationId: 'webhooks.rotateSecret',
        summary: 'Rotate secret',
        description:
          'Gives the endpoint another secret and returns it; it cannot be read again. The one before signs too for 24 hours.',
        params: idParams,
        body: rotateSecretBody,
        response: { 200: createdWebhookSchema },
      },
    },
    async (request) => {
      const given = request.body.secret
      const rotated = await webhooks.rotateSecret(actorOf(request), request.params.id, given)
      const { secret, ...shown } = rotated
      return { ...presentWebhook(shown), secret }
    },
  )

  app.delete(
    `${PATH_OF_ONE}/old-secret`,
    {
      schema: {
        tags,
        operationId: 'webhooks.endOldSecret',
        summary: 'End old secret',
        description: 'Lets the secret before the last rotation sign no more.',
        params: idParams,
        response: { 200: oldSecretEnded },
      },
    },
    async (request) => {
      await webhooks.endOldSecret(actorOf(request), request.params.id)
      return { message: 'Old secret ended' as const }
    },
  )
}

function registerCalls(app: FastifyInstanceZod, { webhooks }: WebhookRouteDependencies): void {
  app.post(
    `${PATH_OF_ONE}/test`,
    {
      config: { mayTakeLong: true },
      schema: {
        tags,
        operationId: 'webhooks.test',
        summary: 'Send a test',
        description:
          'Sends the event `webhook.test` at once, also to a disabled endpoint, and returns what it answered. It is not tried again.',
        params: idParams,
        response: { 200: attemptSchema },
      },
    },
    async (request) => presentAttempt(await webhooks.test(actorOf(request), request.params.id)),
  )

  app.post(
    `${PATH_OF_ONE}/replay`,
    {
      schema: {
        tags,
        operationId: 'webhooks.replay',
        summary: 'Send again',
        description:
          'Sends one call again, or the events of a period in the order in which they happened. Calls keep their `webhook-id`. Clicks are sent again for 7 days, all else for as long as the event log keeps it.',
        params: idParams,
        body: replayBody,
        response: { 200: webhookSchema },
      },
    },
    async (request) => {
      const actor = actorOf(request)
      const { id } = request.params
      const wanted = wantedReplay(request.body)
      if ('messageId' in wanted) {
        return presentWebhook(await webhooks.replayMessage(actor, id, wanted.messageId))
      }
      const isDryRun = request.body.dry_run === true
      const shown = isDryRun
        ? await webhooks.countReplay(actor, id, wanted)
        : await webhooks.replayPeriod(actor, id, wanted)
      return presentWebhook(shown)
    },
  )
}

/** @throws {Failure} `validation_failed` */
function wantedReplay(body: ReplayBody): { readonly messageId: string } | PeriodReplay {
  const { message_id: messageId, from, to, events, undelivered = false } = body
  if (messageId !== undefined) {
    const others = [from, to, events, body.dry_run]
    if (others.every((other) => other === undefined)) return { messageId }
    throw Failure.invalid({
      message_id: [{ code: 'incompatible', reason: 'never', other: 'from, to, events or dry_run' }],
    })
  }
  if (from === undefined) throw Failure.invalid({ from: [{ code: 'required' }] })
  const faults = new FaultList()
  const fromMicros = faults.take('from', parseInstant(from))
  const toMicros = to === undefined ? undefined : faults.take('to', parseInstant(to))
  faults.throwIfAny()
  return { fromMicros: fromMicros ?? 0, toMicros, events, onlyUndelivered: undelivered }
}

async function listAttempts(
  request: FastifyRequest,
  on: WebhookRouteDependencies & { readonly id: string; readonly query: ListAttemptsQuery },
) {
  const { webhooks, id, query } = on
  const { event, message: messageId, failed: onlyFailed = false } = query
  const actor = actorOf(request)
  const filter = { event, messageId, onlyFailed }
  const { data, ...envelope } = await uncountedPage<Attempt, number>(request, query, {
    context: on,
    owner: [actor.workspaceId, id, filter],
    read: (run) => webhooks.attempts(actor, id, { ...filter, ...run }),
  })
  return { ...envelope, data: data.map(presentAttempt) }
}

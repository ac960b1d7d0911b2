import {
  type BulkLinksAnswer,
  type BulkLinksEnvelope,
  type BulkResult,
  bulkLinksAnswer,
  bulkLinksBody,
} from '@terse/contract/bulk-links'
import { acceptChangesQuery } from '@terse/contract/explain'
import { idempotencyHeaders } from '@terse/contract/primitives'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { actorOf } from '../identity/index.ts'
import type { Idempotency } from '../platform/http/api/idempotency.ts'
import { tooLargeFor } from '../platform/http/api/responses.ts'
import type { FairQueue, FairQueueOptions } from '../platform/work/fair-queue.ts'
import { acceptanceOf } from './accept-changes.ts'
import type { BulkLinks } from './bulk-links.ts'
import { bulkItems, countItems, type ItemResult, validateEnvelope } from './bulk-writer.ts'
import type { Links } from './links.ts'

/** A thousand links with 2 KiB each. */
const BODY_BYTES_MAX = 2 * 1024 * 1024

/** Held while the body is read, too: the bodies of all of them are in memory. */
export const BULK_QUEUE: FairQueueOptions = {
  work: 'bulk requests',
  concurrency: 32,
  concurrencyPerOwner: 1,
  waitingPerOwnerMax: 4,
  waitingMax: 256,
  deadlineMs: 5_000,
}

export type BulkRouteDependencies = {
  readonly links: Links
  readonly bulkLinks: BulkLinks
  /** For `BULK_QUEUE`. */
  readonly bulkRequests: FairQueue
  readonly idempotency: Idempotency
}

export const bulkRoutes: FastifyPluginAsyncZod<BulkRouteDependencies> = async (app, deps) => {
  app.setValidatorCompiler(validateEnvelope)
  app.post(
    '/links/bulk',
    {
      bodyLimit: BODY_BYTES_MAX,
      config: { mayTakeLong: true },
      onRequest: async (request, reply) => {
        const release = await deps.bulkRequests.acquire(actorOf(request).workspaceId)
        if (reply.raw.closed) release()
        reply.raw.once('close', release)
      },
      schema: {
        tags: ['Links'],
        operationId: 'links.bulk',
        summary: 'Create, update or delete many links',
        description:
          'Does one action with up to 1,000 links, in their order, and returns the result of each: one that fails does not stop the others. Items are committed 25 at a time. After about 10 s the rest is `pending`. With an `Idempotency-Key`, the same request goes on where it stopped, and returns the results of what was done before.',
        headers: idempotencyHeaders,
        querystring: acceptChangesQuery,
        body: bulkLinksBody,
        response: {
          200: bulkLinksAnswer,
          ...tooLargeFor(BODY_BYTES_MAX),
        },
      },
    },
    (request, reply) => answer(request, reply, acceptanceOf(request.query), deps),
  )
}

async function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  options: ReturnType<typeof acceptanceOf>,
  { links, bulkLinks, idempotency }: BulkRouteDependencies,
): Promise<BulkLinksAnswer> {
  const actor = actorOf(request)
  const body = request.body as BulkLinksEnvelope
  const items = bulkItems(body, (input) => links.faultsOf(input))
  const repeatable = idempotency.read(request, reply, actor)
  const done = await bulkLinks.run(actor, items, repeatable, options)
  const total = countItems(body)
  const succeeded = done.filter(({ status }) => status === 'succeeded').length
  return {
    action: body.action,
    done: done.length === total,
    succeeded,
    failed: done.length - succeeded,
    pending: total - done.length,
    results: Array.from({ length: total }, (_, index) => present(done[index], index)),
  }
}

function present(result: ItemResult | undefined, index: number): BulkResult {
  if (result === undefined) {
    return { index, status: 'pending', id: null, link: null, before: null, error: null }
  }
  const { status, id, link, before = null, error } = result
  return {
    index,
    status,
    id,
    link,
    before: before && { ...before },
    error,
  }
}

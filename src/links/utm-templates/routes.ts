import { idempotencyHeaders, idParams, ifNoneMatchHeaders } from '@terse/contract/primitives'
import {
  listUtmTemplatesQuery,
  patchUtmTemplateBody,
  type UtmTemplateResource,
  utmTemplateBody,
  utmTemplateDeleted,
  utmTemplatePage,
  utmTemplateSchema,
} from '@terse/contract/utm-templates'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { actorOf } from '../../identity/index.ts'
import type { Idempotency } from '../../platform/http/api/idempotency.ts'
import { envelope, offsetOf, pageRequestOf } from '../../platform/http/api/pagination.ts'
import type { FastifyInstanceZod } from '../../platform/http/api/responses.ts'
import { formatInstant } from '../../platform/time/clock.ts'
import { presentManagedAt } from '../../storage/managed.ts'
import type { UtmTemplate } from './utm-template-store.ts'
import type { UtmTemplates } from './utm-templates.ts'

const tags = ['UTM templates']
const PATH = '/utm-templates'
const PATH_OF_ONE = '/utm-templates/:id'

export type UtmTemplateRouteDependencies = {
  readonly utmTemplates: UtmTemplates
  readonly idempotency: Idempotency
  readonly baseUrl: string
}

export const utmTemplateRoutes: FastifyPluginAsyncZod<UtmTemplateRouteDependencies> = async (
  app,
  deps,
) => {
  registerReads(app, deps)
  registerWrites(app, deps)
}

function registerReads(app: FastifyInstanceZod, deps: UtmTemplateRouteDependencies): void {
  app.get(
    PATH,
    {
      schema: {
        tags,
        operationId: 'utmTemplates.list',
        summary: 'List UTM templates',
        description: 'Returns the UTM templates of the workspace, by name.',
        headers: ifNoneMatchHeaders,
        querystring: listUtmTemplatesQuery,
        response: { 200: utmTemplatePage },
      },
    },
    async (request) => {
      const page = pageRequestOf(request.query)
      const offset = offsetOf(page)
      const found = await deps.utmTemplates.list(actorOf(request), offset, page.perPage)
      const { items, total } = found
      return envelope(request, deps.baseUrl, page, { items: items.map(present), total })
    },
  )

  app.get(
    PATH_OF_ONE,
    {
      schema: {
        tags,
        operationId: 'utmTemplates.get',
        summary: 'Show UTM template',
        description: 'Returns one UTM template.',
        params: idParams,
        headers: ifNoneMatchHeaders,
        response: { 200: utmTemplateSchema },
      },
    },
    async (request) => present(await deps.utmTemplates.get(actorOf(request), request.params.id)),
  )
}

function registerWrites(app: FastifyInstanceZod, deps: UtmTemplateRouteDependencies): void {
  const changed = { 200: utmTemplateSchema }
  const { utmTemplates } = deps

  app.post(
    PATH,
    {
      schema: {
        tags,
        operationId: 'utmTemplates.create',
        summary: 'Create UTM template',
        description: 'Creates a UTM template. A workspace may have 500.',
        headers: idempotencyHeaders,
        body: utmTemplateBody,
        response: { 201: utmTemplateSchema },
      },
    },
    async (request, reply) => {
      const actor = actorOf(request)
      const repeatable = deps.idempotency.read(request, reply, actor)
      const template = await utmTemplates.create(actor, request.body, repeatable)
      return reply.code(201).send(present(template))
    },
  )

  app.put(
    PATH_OF_ONE,
    {
      schema: {
        tags,
        operationId: 'utmTemplates.update',
        summary: 'Update UTM template',
        description: 'Changes a UTM template. `name` is required.',
        params: idParams,
        body: utmTemplateBody,
        response: changed,
      },
    },
    async (request) =>
      present(await utmTemplates.update(actorOf(request), request.params.id, request.body)),
  )

  app.patch(
    PATH_OF_ONE,
    {
      schema: {
        tags,
        operationId: 'utmTemplates.patch',
        summary: 'Change some fields of a UTM template',
        description: 'Changes the fields that are sent. Null clears a field.',
        params: idParams,
        body: patchUtmTemplateBody,
        response: changed,
      },
    },
    async (request) =>
      present(await utmTemplates.update(actorOf(request), request.params.id, request.body)),
  )

  app.delete(
    PATH_OF_ONE,
    {
      schema: {
        tags,
        operationId: 'utmTemplates.delete',
        summary: 'Delete UTM template',
        description: 'Deletes a UTM template. Links keep their values.',
        params: idParams,
        response: { 200: utmTemplateDeleted },
      },
    },
    async (request) => {
      await utmTemplates.delete(actorOf(request), request.params.id)
      return { message: 'UTM template deleted' as const }
    },
  )
}

function present({ created_at, updated_at, ...template }: UtmTemplate): UtmTemplateResource {
  return {
    ...template,
    managed_at: presentManagedAt(template),
    created_at: formatInstant(created_at),
    updated_at: formatInstant(updated_at),
  }
}

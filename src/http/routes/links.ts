import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import {
  createLinkBody,
  linkDeleted,
  linkPage,
  linkSchema,
  listLinksQuery,
  patchLinkBody,
  updateLinkBody,
} from '../../contract/links.ts'
import { idempotencyHeaders, idParams } from '../../contract/primitives.ts'
import type { AppDependencies } from '../app-dependencies.ts'
import { workspaceOf } from '../authentication.ts'
import { listLinks } from '../list-links.ts'
import { presentCreatedLink, presentLink } from '../present.ts'
import { validateWith } from '../validation.ts'
import { CONFLICT, FAILURES, INVALID, INVALID_BODY, INVALID_QUERY, NOT_FOUND } from './responses.ts'

const tags = ['Links']

export const linkRoutes: FastifyPluginAsyncZod<AppDependencies> = async (app, deps) => {
  app.setValidatorCompiler(validateWith((input) => deps.links.faultsOf(input)))

  app.get(
    '/links',
    {
      config: { scope: 'links:read', mayTakeLong: true },
      schema: {
        tags,
        summary: 'List links',
        querystring: listLinksQuery,
        response: { 200: linkPage, ...INVALID_QUERY, ...FAILURES },
      },
    },
    (request) => listLinks(request, request.query, deps),
  )

  app.post(
    '/links',
    {
      config: { scope: 'links:write' },
      schema: {
        tags,
        summary: 'Create link',
        headers: idempotencyHeaders,
        body: createLinkBody,
        response: { 201: linkSchema, ...CONFLICT, ...INVALID, ...FAILURES },
      },
    },
    async (request, reply) => {
      const repeatable = deps.idempotency(request)
      const link = await deps.links.create(workspaceOf(request), request.body, repeatable)
      return reply.code(201).send(presentCreatedLink(link))
    },
  )

  app.get(
    '/links/:id',
    {
      config: { scope: 'links:read' },
      schema: {
        tags,
        summary: 'Show link',
        params: idParams,
        response: { 200: linkSchema, ...NOT_FOUND, ...FAILURES },
      },
    },
    async (request) => presentLink(await deps.links.get(workspaceOf(request), request.params.id)),
  )

  const update = {
    config: { scope: 'links:write' },
    schema: {
      tags,
      params: idParams,
      response: { 200: linkSchema, ...NOT_FOUND, ...INVALID, ...FAILURES },
    },
  } as const

  app.put(
    '/links/:id',
    { ...update, schema: { ...update.schema, summary: 'Update link', body: updateLinkBody } },
    async (request) =>
      presentLink(await deps.links.update(workspaceOf(request), request.params.id, request.body)),
  )

  app.patch(
    '/links/:id',
    {
      ...update,
      schema: { ...update.schema, summary: 'Change some fields of a link', body: patchLinkBody },
    },
    async (request) =>
      presentLink(await deps.links.update(workspaceOf(request), request.params.id, request.body)),
  )

  app.delete(
    '/links/:id',
    {
      config: { scope: 'links:write' },
      schema: {
        tags,
        summary: 'Delete link',
        params: idParams,
        response: { 200: linkDeleted, ...NOT_FOUND, ...INVALID_BODY, ...FAILURES },
      },
    },
    async (request) => {
      await deps.links.delete(workspaceOf(request), request.params.id)
      return { message: 'Link deleted' as const }
    },
  )
}

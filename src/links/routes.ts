import { type AcceptChangesQuery, acceptChangesQuery } from '@terse/contract/explain'
import { faultText } from '@terse/contract/faults'
import {
  type KeyAvailabilityResource,
  keyAvailability,
  keyAvailabilityQuery,
} from '@terse/contract/link-keys'
import {
  createLinkBody,
  getLinkQuery,
  includingLinkSchema,
  linkDeleted,
  linkFieldsPage,
  linkPage,
  linkSchema,
  listLinksQuery,
  patchLinkBody,
  updateLinkBody,
} from '@terse/contract/links'
import {
  idempotencyHeaders,
  idParams,
  ifMatchHeaders,
  ifNoneMatchHeaders,
} from '@terse/contract/primitives'
import type { FastifyRequest } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { actorOf } from '../identity/index.ts'
import { expectedVersions, tagged } from '../platform/http/api/entity-tags.ts'
import type { Idempotency } from '../platform/http/api/idempotency.ts'
import { presentFault } from '../platform/http/api/problem.ts'
import type { FastifyInstanceZod } from '../platform/http/api/responses.ts'
import { validateWith } from '../platform/http/api/validation.ts'
import { acceptanceOf, EXAMPLES_CHANGED } from './accept-changes.ts'
import { asCreated, type Link, linkVersion, presentIncluding, presentLink } from './link.ts'
import type { LinkInput } from './link-input.ts'
import type { KeyAvailability, LinkKeys } from './link-keys.ts'
import { type LinkListDependencies, listLinks } from './list-links.ts'

const tags = ['Links']

const update = {
  schema: {
    tags,
    params: idParams,
    headers: ifMatchHeaders,
    querystring: acceptChangesQuery,
    response: { 200: linkSchema, ...EXAMPLES_CHANGED },
  },
} as const

export type LinkRouteDependencies = LinkListDependencies & {
  readonly idempotency: Idempotency
}

export const linkRoutes: FastifyPluginAsyncZod<LinkRouteDependencies> = async (app, deps) => {
  app.setValidatorCompiler(validateWith((input) => deps.links.faultsOf(input)))
  registerReads(app, deps)
  registerWrites(app, deps)
}

function registerReads(app: FastifyInstanceZod, deps: LinkRouteDependencies): void {
  app.get(
    '/links',
    {
      config: { mayTakeLong: true },
      schema: {
        tags,
        operationId: 'links.list',
        summary: 'List links',
        description:
          'Returns one page of the links of the workspace; the newest first unless `sort` is set. `include` adds what a list of them shows beside their fields.',
        headers: ifNoneMatchHeaders,
        querystring: listLinksQuery,
        response: {
          200: linkPage.or(linkFieldsPage),
        },
      },
    },
    (request) => listLinks(request, request.query, deps),
  )

  app.get(
    '/links/:id',
    {
      schema: {
        tags,
        operationId: 'links.get',
        summary: 'Show link',
        description: 'Returns one link; with `include`, what it has beside its fields.',
        params: idParams,
        headers: ifNoneMatchHeaders,
        querystring: getLinkQuery,
        response: { 200: includingLinkSchema },
      },
    },
    async (request, reply) => {
      const link = await deps.links.get(actorOf(request), request.params.id)
      const { include } = request.query
      return tagged(reply, presentIncluding(link, include), linkVersion(link))
    },
  )
}

function registerWrites(app: FastifyInstanceZod, deps: LinkRouteDependencies): void {
  app.post(
    '/links',
    {
      schema: {
        tags,
        operationId: 'links.create',
        summary: 'Create link',
        description:
          'Creates a link. Without `key` the service generates a random one. A domain that the workspace does not have yet is added as `pending`.',
        headers: idempotencyHeaders,
        body: createLinkBody,
        response: { 201: linkSchema },
      },
    },
    async (request, reply) => {
      const actor = actorOf(request)
      const repeatable = deps.idempotency.read(request, reply, actor)
      const link = await deps.links.create(actor, request.body, repeatable)
      reply.code(201)
      return asCreated(tagged(reply, presentLink(link), linkVersion(link)))
    },
  )

  app.put(
    '/links/:id',
    {
      ...update,
      schema: {
        ...update.schema,
        operationId: 'links.update',
        summary: 'Update link',
        description:
          'Changes a link. `domain` and `url` are required. Other fields keep their value when left out, and null clears them.',
        body: updateLinkBody,
      },
    },
    async (request) => presentLink(await updateBy(deps.links, request)),
  )

  app.patch(
    '/links/:id',
    {
      ...update,
      schema: {
        ...update.schema,
        operationId: 'links.patch',
        summary: 'Change some fields of a link',
        description: 'Changes the fields that are sent. Null clears a field.',
        body: patchLinkBody,
      },
    },
    async (request, reply) => {
      const link = await updateBy(deps.links, request)
      return tagged(reply, presentLink(link), linkVersion(link))
    },
  )

  app.delete(
    '/links/:id',
    {
      schema: {
        tags,
        operationId: 'links.delete',
        summary: 'Delete link',
        description:
          'Deletes a link. The short link stops working at once, and its key can be used again. A link with `prevent_delete` is refused.',
        params: idParams,
        headers: ifMatchHeaders,
        response: { 200: linkDeleted },
      },
    },
    async (request) => {
      await deps.links.delete(actorOf(request), request.params.id, expectedVersions(request))
      return { message: 'Link deleted' as const }
    },
  )
}

function updateBy(
  links: LinkRouteDependencies['links'],
  request: FastifyRequest<{
    Params: { id: string }
    Body: LinkInput
    Querystring: AcceptChangesQuery
  }>,
): Promise<Link> {
  const { params, body } = request
  const options = acceptanceOf(request.query)
  return links.update(actorOf(request), params.id, body, expectedVersions(request), options)
}

export type KeyRouteDependencies = { readonly linkKeys: LinkKeys }

export const keyRoutes: FastifyPluginAsyncZod<KeyRouteDependencies> = async (app, deps) => {
  app.get(
    '/links/key-availability',
    {
      schema: {
        tags: ['Links'],
        operationId: 'links.checkKey',
        summary: 'Check whether a key is free',
        description:
          'Returns whether a link could be created with this key on this domain, why not, and a generated key that is free. The answer reserves nothing.',
        headers: ifNoneMatchHeaders,
        querystring: keyAvailabilityQuery,
        response: { 200: keyAvailability },
      },
    },
    async (request) => {
      const { domain, key } = request.query
      return present(await deps.linkKeys.check(actorOf(request), domain, key))
    },
  )
}

function present({ host, key, fault, suggestion }: KeyAvailability): KeyAvailabilityResource {
  return {
    domain: host,
    key: key ?? null,
    available: key === undefined ? null : fault === undefined,
    reason: fault?.reason ?? null,
    message: fault === undefined ? null : faultText(fault.fault),
    fault: fault === undefined ? null : presentFault(fault.fault),
    suggestion,
  }
}

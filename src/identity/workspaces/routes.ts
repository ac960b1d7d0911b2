import { pageQuery } from '@terse/contract/pagination'
import { idempotencyHeaders, idParams, ifNoneMatchHeaders } from '@terse/contract/primitives'
import {
  createWorkspaceBody,
  patchWorkspaceBody,
  type WorkspaceResource,
  workspaceDeleted,
  workspaceLeft,
  workspaceList,
  workspaceSchema,
} from '@terse/contract/workspaces'
import type { FastifyRequest } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import type { Idempotency } from '../../platform/http/api/idempotency.ts'
import { type FastifyInstanceZod, REFUSED } from '../../platform/http/api/responses.ts'
import { type WalkContext, wholeList } from '../../platform/http/api/walk.ts'
import { formatInstant } from '../../platform/time/clock.ts'
import { INSTANCE } from '../../storage/event-log.ts'
import { actorOf, signedInOf } from '../authentication.ts'
import type { Members } from '../members/members.ts'
import type { Workspace } from './workspace.ts'
import type { Workspaces } from './workspaces.ts'

export type WorkspaceRouteDependencies = WalkContext & {
  readonly workspaces: Workspaces
  readonly idempotency: Idempotency
  readonly members: Members
}

const tags = ['Workspace']

export const workspaceRoutes: FastifyPluginAsyncZod<WorkspaceRouteDependencies> = async (
  app,
  deps,
) => {
  registerCollection(app, deps)
  registerOne(app, deps)
}

function registerCollection(app: FastifyInstanceZod, deps: WorkspaceRouteDependencies): void {
  const { workspaces, idempotency } = deps
  app.get(
    '/workspaces',
    {
      schema: {
        tags,
        operationId: 'workspaces.list',
        summary: 'List workspaces',
        description:
          'Returns the workspaces of the person who is signed in; of all people for an operator of the instance, with `role` null where the operator is no member.',
        headers: ifNoneMatchHeaders,
        querystring: pageQuery,
        response: { 200: workspaceList },
      },
    },
    async (request) => {
      const { person, memberships } = signedInOf(request)
      const all = await workspaces.list()
      const own = new Set(memberships.map(({ workspace_id }) => workspace_id))
      const visible = person.is_operator ? all : all.filter(({ id }) => own.has(id))
      return wholeList(request, deps, request.query, {
        owner: person.id,
        items: visible,
        orderOf: ({ created_at, id }) => [created_at, id],
        present: (workspace) => present(request, workspace),
      })
    },
  )

  app.post(
    '/workspaces',
    {
      schema: {
        tags,
        operationId: 'workspaces.create',
        summary: 'Create a workspace',
        description: 'For operators of the instance. The person who creates it is its owner.',
        headers: idempotencyHeaders,
        body: createWorkspaceBody,
        response: { 201: workspaceSchema },
      },
    },
    async (request, reply) => {
      const actor = actorOf(request)
      const by = (workspaceId: string) => ({ ...actor, workspaceId })
      const { id: ownerId } = signedInOf(request).person
      const { name, title } = request.body
      const repeatable = idempotency.read(request, reply, { workspaceId: INSTANCE })
      const workspace = await workspaces.create(by, name, { title, ownerId, repeatable })
      return reply.code(201).send({ ...present(request, workspace), role: 'owner' as const })
    },
  )
}

function registerOne(
  app: FastifyInstanceZod,
  { workspaces, members }: WorkspaceRouteDependencies,
): void {
  app.get(
    '/workspaces/:id',
    {
      schema: {
        tags,
        operationId: 'workspaces.get',
        summary: 'Show a workspace',
        description: 'Returns the workspace of the token, or one of the person who is signed in.',
        params: idParams,
        headers: ifNoneMatchHeaders,
        response: { 200: workspaceSchema },
      },
    },
    async (request) => present(request, await workspaces.getById(actorOf(request).workspaceId)),
  )

  app.patch(
    '/workspaces/:id',
    {
      schema: {
        tags,
        operationId: 'workspaces.patch',
        summary: 'Rename a workspace',
        description:
          'Changes the fields that are sent: `title` is what people see, `name` the slug of commands and settings. Identifiers, links and tokens stay as they are.',
        params: idParams,
        body: patchWorkspaceBody,
        response: { 200: workspaceSchema },
      },
    },
    async (request) => {
      const actor = actorOf(request)
      const { name, title } = request.body
      await workspaces.change(actor, {
        ...(name !== undefined && { name }),
        ...(title !== undefined && { title }),
      })
      return present(request, await workspaces.getById(actor.workspaceId))
    },
  )

  app.delete(
    '/workspaces/:id',
    {
      schema: {
        tags,
        operationId: 'workspaces.delete',
        summary: 'Delete a workspace',
        description:
          'Removes its members and revokes its tokens at once. Its domains and links are deleted soon after, and then stop answering. Needs a recent authentication. Cannot be undone.',
        params: idParams,
        response: { 200: workspaceDeleted },
      },
    },
    async (request) => {
      await workspaces.delete(actorOf(request))
      return { message: 'Workspace deleted' as const }
    },
  )

  app.delete(
    '/workspaces/:id/membership',
    {
      schema: {
        tags,
        operationId: 'workspaces.leave',
        summary: 'Leave a workspace',
        description: 'Ends the membership of the person who is signed in. The last owner stays.',
        params: idParams,
        response: { 200: workspaceLeft, ...REFUSED },
      },
    },
    async (request) => {
      const actor = { ...actorOf(request), workspaceId: request.params.id }
      await members.leave(actor, signedInOf(request).person.id)
      return { message: 'Workspace left' as const }
    },
  )
}

function present(
  { signedIn }: FastifyRequest,
  { id, name, title, created_at }: Workspace,
): WorkspaceResource {
  const membership = signedIn?.memberships.find(({ workspace_id }) => workspace_id === id)
  return { id, name, title, role: membership?.role ?? null, created_at: formatInstant(created_at) }
}

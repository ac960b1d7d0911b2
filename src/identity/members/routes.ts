import { memberList, memberRemoved, memberSchema, patchMemberBody } from '@terse/contract/members'
import { pageQuery } from '@terse/contract/pagination'
import { idParams, ifNoneMatchHeaders } from '@terse/contract/primitives'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import {
  FAILURES,
  INVALID,
  INVALID_BODY,
  INVALID_QUERY,
  NOT_FOUND,
  NOT_MODIFIED,
} from '../../platform/http/api/responses.ts'
import { type WalkContext, wholeList } from '../../platform/http/api/walk.ts'
import { actorOf } from '../access/authentication.ts'
import type { Members } from './members.ts'
import { presentMember } from './present.ts'

export type MemberRouteDependencies = WalkContext & { readonly members: Members }

const tags = ['People']

export const memberRoutes: FastifyPluginAsyncZod<MemberRouteDependencies> = async (app, deps) => {
  const { members } = deps
  app.get(
    '/members',
    {
      schema: {
        tags,
        operationId: 'members.list',
        summary: 'List members',
        description: 'Returns the people in the workspace, by name.',
        headers: ifNoneMatchHeaders,
        querystring: pageQuery,
        response: { 200: memberList, ...NOT_MODIFIED, ...INVALID_QUERY, ...FAILURES },
      },
    },
    async (request) => {
      const actor = actorOf(request)
      return wholeList(request, deps, request.query, {
        owner: actor.workspaceId,
        items: await members.list(actor),
        orderOf: ({ person }) => [person.name.toLowerCase(), person.id],
        present: presentMember,
      })
    },
  )

  app.patch(
    '/members/:id',
    {
      schema: {
        tags,
        operationId: 'members.patch',
        summary: 'Change the role of a member',
        description:
          'Takes effect with the next request of the member. Neither role can allow more than the caller may do; people need a recent authentication to make and unmake admins and owners. A member whose address is not proved and who gets a higher role is signed out and loses all ways to sign in: give them a link for a new password. The last owner keeps the role.',
        params: idParams,
        body: patchMemberBody,
        response: { 200: memberSchema, ...NOT_FOUND, ...INVALID, ...FAILURES },
      },
    },
    async (request) => {
      const actor = actorOf(request)
      await members.setRole(actor, request.params.id, request.body.role)
      return presentMember(await members.get(actor, request.params.id))
    },
  )

  app.delete(
    '/members/:id',
    {
      schema: {
        tags,
        operationId: 'members.delete',
        summary: 'Remove a member',
        description:
          'The person can no longer use the workspace, and open invitations and links that the person made end. People need a recent authentication to remove admins and owners. Tokens that the person created stay valid; revoke them where needed.',
        params: idParams,
        response: { 200: memberRemoved, ...NOT_FOUND, ...INVALID_BODY, ...FAILURES },
      },
    },
    async (request) => {
      await members.remove(actorOf(request), request.params.id)
      return { message: 'Member removed' as const }
    },
  )
}

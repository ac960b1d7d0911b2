import { pageQuery } from '@terse/contract/pagination'
import {
  type AccountResource,
  accountDeleted,
  accountList,
  accountSchema,
  patchAccountBody,
} from '@terse/contract/people'
import { idParams, ifNoneMatchHeaders } from '@terse/contract/primitives'
import { type OneTimeLinkResource, oneTimeLinkSchema } from '@terse/contract/sign-in'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import {
  FAILURES,
  type FastifyInstanceZod,
  INVALID,
  INVALID_QUERY,
  NOT_FOUND,
  NOT_MODIFIED,
  SESSION_FAILURES,
} from '../../platform/http/api/responses.ts'
import { type WalkContext, wholeList } from '../../platform/http/api/walk.ts'
import { formatInstant } from '../../platform/time/clock.ts'
import { actorOf, signedInOf } from '../access/authentication.ts'
import { presentPerson } from '../sessions/present.ts'
import type { Accounts } from './accounts.ts'
import { type ResetLink, type ResetLinks, resetAddress } from './reset-links.ts'
import type { Account } from './store/person-store.ts'

export type AccountRouteDependencies = WalkContext & {
  readonly accounts: Accounts
  readonly resetLinks: ResetLinks
}

const tags = ['Instance']

export const accountRoutes: FastifyPluginAsyncZod<AccountRouteDependencies> = async (app, deps) => {
  registerPeople(app, deps)
  registerResets(app, deps)
}

function registerPeople(app: FastifyInstanceZod, deps: AccountRouteDependencies): void {
  const { accounts } = deps
  app.get(
    '/people',
    {
      schema: {
        tags,
        operationId: 'people.list',
        summary: 'List people',
        description: 'Returns everyone with an account, by name. For operators of the instance.',
        headers: ifNoneMatchHeaders,
        querystring: pageQuery,
        response: { 200: accountList, ...NOT_MODIFIED, ...INVALID_QUERY, ...SESSION_FAILURES },
      },
    },
    async (request) =>
      wholeList(request, deps, request.query, {
        owner: signedInOf(request).person.id,
        items: await accounts.list(),
        orderOf: ({ person }) => [person.name.toLowerCase(), person.id],
        present: presentAccount,
      }),
  )

  app.patch(
    '/people/:id',
    {
      schema: {
        tags,
        operationId: 'people.patch',
        summary: 'Disable a person, or name an operator',
        description:
          'For operators of the instance. A person who is disabled cannot sign in, and all sessions end. One whose address is not proved and who becomes an operator is signed out and loses all ways to sign in: give them a link for a new password. The instance keeps an operator.',
        params: idParams,
        body: patchAccountBody,
        response: { 200: accountSchema, ...NOT_FOUND, ...INVALID, ...SESSION_FAILURES },
      },
    },
    async (request) => {
      const { is_disabled: isDisabled, is_operator: isOperator } = request.body
      const { id } = request.params
      await accounts.change(actorOf(request), id, { isDisabled, isOperator })
      return presentAccount(await accounts.get(id))
    },
  )

  app.delete(
    '/people/:id',
    {
      schema: {
        tags,
        operationId: 'people.delete',
        summary: 'Delete a person',
        description:
          'For operators of the instance. All sessions end, and nothing that names the person stays: events lose their author within 30 days. The instance keeps an operator, and every workspace an owner. Needs a recent authentication. Cannot be undone.',
        params: idParams,
        response: {
          200: accountDeleted,
          ...NOT_FOUND,
          ...INVALID,
          ...SESSION_FAILURES,
        },
      },
    },
    async (request) => {
      await accounts.delete(actorOf(request), request.params.id)
      return { message: 'Person deleted' as const }
    },
  )
}

function registerResets(
  app: FastifyInstanceZod,
  { resetLinks, baseUrl }: AccountRouteDependencies,
): void {
  app.post(
    '/people/:id/password-reset',
    {
      schema: {
        tags,
        operationId: 'people.resetPassword',
        summary: 'Make a link for a new password',
        description:
          'Returns a link for another person, this once. It works once, for 24 hours, as long as the operator is one. Passkeys and single sign-on accounts that the person does not confirm with the new password are removed; an authenticator app stays. For operators of the instance.',
        params: idParams,
        response: { 201: oneTimeLinkSchema, ...NOT_FOUND, ...INVALID, ...SESSION_FAILURES },
      },
    },
    async (request, reply) => {
      const made = await resetLinks.create(actorOf(request), request.params.id)
      return reply.code(201).send(presentLink(baseUrl, made))
    },
  )

  app.post(
    '/members/:id/password-reset',
    {
      schema: {
        tags: ['People'],
        operationId: 'members.resetPassword',
        summary: 'Make a link for a new password of a member',
        description:
          'As `people.resetPassword`, for a member who belongs to no other workspace, does not operate the instance and may do no more than the caller: as long as all of that holds. No token may do this.',
        params: idParams,
        response: { 201: oneTimeLinkSchema, ...NOT_FOUND, ...INVALID, ...FAILURES },
      },
    },
    async (request, reply) => {
      const made = await resetLinks.createForMember(actorOf(request), request.params.id)
      return reply.code(201).send(presentLink(baseUrl, made))
    },
  )
}

function presentAccount({ person, lastSeenAt }: Account): AccountResource {
  return {
    ...presentPerson(person),
    is_disabled: person.disabled_at !== null,
    last_seen_at: lastSeenAt === null ? null : formatInstant(lastSeenAt),
  }
}

function presentLink(baseUrl: string, { link, code }: ResetLink): OneTimeLinkResource {
  return { url: resetAddress(baseUrl, code), expires_at: formatInstant(link.expires_at) }
}

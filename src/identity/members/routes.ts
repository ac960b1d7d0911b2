import type { Fault } from '@terse/contract/faults'
import {
  acceptInvitationBody,
  createdInvitationSchema,
  createInvitationBody,
  invitationDeleted,
  invitationDetailsSchema,
  invitationList,
  lookUpInvitationBody,
  memberList,
  memberRemoved,
  memberSchema,
  patchMemberBody,
} from '@terse/contract/members'
import { pageQuery } from '@terse/contract/pagination'
import { idempotencyHeaders, idParams, ifNoneMatchHeaders } from '@terse/contract/primitives'
import { sessionSchema } from '@terse/contract/sign-in'
import type { FastifyRequest } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { Failure } from '../../platform/failure.ts'
import type { Idempotency } from '../../platform/http/api/idempotency.ts'
import type { FastifyInstanceZod } from '../../platform/http/api/responses.ts'
import { type WalkContext, wholeList } from '../../platform/http/api/walk.ts'
import { actorOf } from '../authentication.ts'
import { invitationAddress } from '../one-time-links.ts'
import type { Person } from '../people/person.ts'
import { presentDetails, presentInvitation, presentMember, presentSession } from '../present.ts'
import { originOf, type SessionRouteDependencies } from '../sign-in/routes.ts'
import type { SessionCache } from '../sign-in/sessions.ts'
import type { AcceptInvitation, Invitations } from './invitations.ts'
import type { Members } from './members.ts'

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
        response: { 200: memberList },
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
        response: { 200: memberSchema },
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
        response: { 200: memberRemoved },
      },
    },
    async (request) => {
      await members.remove(actorOf(request), request.params.id)
      return { message: 'Member removed' as const }
    },
  )
}

export type InvitationRouteDependencies = Pick<
  SessionRouteDependencies,
  'trustedProxies' | 'answerSession' | 'sessionCookie'
> &
  WalkContext & {
    readonly invitations: Invitations
    readonly idempotency: Idempotency
    readonly acceptInvitation: AcceptInvitation
    readonly sessionCache: SessionCache
    /** Hands an invitation to the mail server; undefined where none is configured. */
    readonly mailInvitation:
      | ((code: string, invitedBy: string, request: FastifyRequest) => Promise<void>)
      | undefined
  }

export const invitationRoutes: FastifyPluginAsyncZod<InvitationRouteDependencies> = async (
  app,
  deps,
) => {
  registerInviting(app, deps)
  registerAccepting(app, deps)
}

function registerInviting(app: FastifyInstanceZod, deps: InvitationRouteDependencies): void {
  const { invitations, idempotency, baseUrl, mailInvitation } = deps

  app.get(
    '/invitations',
    {
      schema: {
        tags: ['People'],
        operationId: 'invitations.list',
        summary: 'List open invitations',
        description: 'Returns the invitations that were neither accepted nor have expired.',
        headers: ifNoneMatchHeaders,
        querystring: pageQuery,
        response: { 200: invitationList },
      },
    },
    async (request) => {
      const actor = actorOf(request)
      return wholeList(request, deps, request.query, {
        owner: actor.workspaceId,
        items: await invitations.list(actor),
        orderOf: ({ created_at, id }) => [created_at, id],
        present: presentInvitation,
      })
    },
  )

  app.post(
    '/invitations',
    {
      schema: {
        tags: ['People'],
        operationId: 'invitations.create',
        summary: 'Invite a person',
        description:
          'Returns a link for the person, this once, and also sends it by e-mail where the instance has a mail server. It works once, for seven days, and replaces an open invitation of the same address. It ends when its author may no longer give the role. The role can allow no more than the caller may do; people need a recent authentication to invite admins and owners. With an `Idempotency-Key`, only the caller who invited gets the link again, and no second mail is sent.',
        headers: idempotencyHeaders,
        body: createInvitationBody,
        response: { 201: createdInvitationSchema },
      },
    },
    async (request, reply) => {
      const actor = actorOf(request)
      const repeatable = idempotency.readSealed(request, reply, actor)
      const created = await invitations.create(actor, request.body, repeatable)
      const { invitation, code, mailedCode } = created
      if (mailedCode !== undefined) await mailInvitation?.(mailedCode, actor.name, request)
      return reply.code(201).send({
        ...presentInvitation(invitation),
        url: invitationAddress(baseUrl, code),
        mail_sent: mailInvitation !== undefined,
      })
    },
  )

  app.delete(
    '/invitations/:id',
    {
      schema: {
        tags: ['People'],
        operationId: 'invitations.delete',
        summary: 'Withdraw an invitation',
        description: 'Its link stops working.',
        params: idParams,
        response: { 200: invitationDeleted },
      },
    },
    async (request) => {
      await invitations.delete(actorOf(request), request.params.id)
      return { message: 'Invitation withdrawn' as const }
    },
  )
}

function registerAccepting(app: FastifyInstanceZod, deps: InvitationRouteDependencies): void {
  app.post(
    '/invitations/look-up',
    {
      schema: {
        tags: ['Sign-in'],
        operationId: 'invitations.lookUp',
        summary: 'Read an invitation',
        description: 'Returns what the code of an invitation leads to, without using it.',
        body: lookUpInvitationBody,
        response: { 200: invitationDetailsSchema },
      },
    },
    async (request) => presentDetails(await deps.invitations.lookUp(request.body.code)),
  )

  app.post(
    '/invitations/accept',
    {
      schema: {
        tags: ['Sign-in'],
        operationId: 'invitations.accept',
        summary: 'Accept an invitation',
        description:
          'A person who is signed in becomes a member. A new person sends `name` and `password`, becomes a member and is signed in. A person who has an account with the address signs in first: `name` and `password` are refused like a wrong sign-in. Where the instance sends mail, a new account takes the code that was mailed. Where the address is not proved, whoever made the account may have kept a way into it: the person sends a new `password` after a recent authentication, all else that signs in is removed, and all sessions end but the new one of the answer.',
        body: acceptInvitationBody,
        response: { 201: sessionSchema },
      },
    },
    async (request, reply) => {
      const { code, name, password } = request.body
      reply.code(201)
      const secret = deps.sessionCookie.read(request.headers.cookie)
      if (request.signedIn !== null && secret !== undefined) {
        refuseNewAccount(request.signedIn.person, { name, password })
        const origin = originOf(request, deps)
        const opened = await deps.acceptInvitation.asMember(
          code,
          request.signedIn,
          password,
          origin,
        )
        if (opened !== undefined) return deps.answerSession(reply, opened)
        const signedIn = await deps.sessionCache.find(secret)
        if (signedIn === undefined) throw Failure.unauthorized({ code: 'session_ended' })
        return presentSession(signedIn, deps.baseUrl)
      }
      const account = requireNewAccount({ name, password })
      const origin = originOf(request, deps)
      const opened = await deps.acceptInvitation.asNewPerson(code, account, origin)
      return deps.answerSession(reply, opened)
    },
  )
}

type AccountFields = { readonly name: string | undefined; readonly password: string | undefined }

/** @throws {Failure} `validation_failed` */
function refuseNewAccount({ email_proved_at }: Person, { name, password }: AccountFields): void {
  const refused = email_proved_at === null ? { name } : { name, password }
  const given = Object.entries(refused).filter(([, value]) => value !== undefined)
  if (given.length === 0) return
  const fault: Fault = { code: 'signed_in' }
  throw Failure.invalid(Object.fromEntries(given.map(([field]) => [field, [fault]])))
}

/** @throws {Failure} `validation_failed` */
function requireNewAccount({ name, password }: AccountFields) {
  if (name !== undefined && password !== undefined) return { name, password }
  const fields = Object.entries({ name, password }).filter(([, value]) => value === undefined)
  const fault: Fault = { code: 'account_required' }
  throw Failure.invalid(Object.fromEntries(fields.map(([field]) => [field, [fault]])))
}

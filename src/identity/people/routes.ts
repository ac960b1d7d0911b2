import {
  changeEmailBody,
  confirmEmailBody,
  emailChangeSchema,
  type MeResource,
  meSchema,
  passwordChanged,
  patchMeBody,
  setPasswordBody,
} from '@terse/contract/me'
import { pageQuery } from '@terse/contract/pagination'
import {
  type AccountResource,
  accountDeleted,
  accountList,
  accountSchema,
  patchAccountBody,
} from '@terse/contract/people'
import { idParams, ifNoneMatchHeaders } from '@terse/contract/primitives'
import {
  lookUpPasswordResetBody,
  type OneTimeLinkResource,
  oneTimeLinkSchema,
  type PasswordResetDetailsResource,
  passwordReset,
  passwordResetDetailsSchema,
  passwordResetRequested,
  requestPasswordResetBody,
  resetPasswordBody,
} from '@terse/contract/sign-in'
import type { FastifyRequest } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { type FastifyInstanceZod, REFUSED } from '../../platform/http/api/responses.ts'
import { type WalkContext, wholeList } from '../../platform/http/api/walk.ts'
import { addressOf } from '../../platform/http/forwarded.ts'
import { preferredLanguage } from '../../platform/http/preferred-language.ts'
import { type Networks, subscriberOf } from '../../platform/network/ip-address.ts'
import { formatInstant } from '../../platform/time/clock.ts'
import { actorOf, signedInOf } from '../authentication.ts'
import { DEFAULT_MAIL_LANGUAGE, MAIL_LANGUAGES } from '../mails.ts'
import { presentPerson } from '../present.ts'
import { identityIdOf } from '../store/credential-store.ts'
import type { Account } from '../store/person-store.ts'
import type { Changer, EmailChanges } from './addresses.ts'
import {
  type PasswordResets,
  type ResetDetails,
  type ResetLink,
  type ResetLinks,
  resetAddress,
} from './password-resets.ts'
import type { Accounts, People } from './people.ts'
import type { Person } from './person.ts'

const tags = ['Me']

export type MeRouteDependencies = {
  readonly people: People
  readonly emailChanges: EmailChanges
}

export const meRoutes: FastifyPluginAsyncZod<MeRouteDependencies> = async (app, deps) => {
  async function present(person: Person): Promise<MeResource> {
    const ways = await deps.people.waysIn(person)
    return {
      ...presentPerson(person),
      has_password: ways.hasPassword,
      has_totp: ways.hasTotp,
      passkeys: ways.passkeys,
      recovery_codes_left: ways.recoveryCodesLeft,
      identities: ways.identities.map((identity) => ({
        id: identityIdOf(identity),
        issuer: identity.issuer,
        linked_at: formatInstant(identity.created_at),
      })),
    }
  }

  app.get(
    '/me',
    {
      schema: {
        tags,
        operationId: 'me.get',
        summary: 'Show your account',
        description: 'Returns the account of the person who is signed in.',
        headers: ifNoneMatchHeaders,
        response: { 200: meSchema },
      },
    },
    (request) => present(signedInOf(request).person),
  )

  app.patch(
    '/me',
    {
      schema: {
        tags,
        operationId: 'me.patch',
        summary: 'Change your name',
        description: 'Changes the fields that are sent.',
        body: patchMeBody,
        response: { 200: meSchema },
      },
    },
    async (request) => {
      const { person, session } = signedInOf(request)
      const name = request.body.name ?? person.name
      return present(await deps.people.rename(actorOf(request), person, name, session.id))
    },
  )

  app.put(
    '/me/password',
    {
      schema: {
        tags,
        operationId: 'me.setPassword',
        summary: 'Set your password',
        description:
          'Sets the password, and ends all other sessions of the person. Needs an authentication within the last ten minutes.',
        body: setPasswordBody,
        response: { 200: passwordChanged },
      },
    },
    async (request) => {
      const { person, session } = signedInOf(request)
      const { password } = request.body
      await deps.people.setPassword(actorOf(request), person, password, session.id)
      return { message: 'Password changed. All other sessions have ended.' as const }
    },
  )

  await emailRoutes(app, deps)
}

const emailRoutes: FastifyPluginAsyncZod<MeRouteDependencies> = async (app, deps) => {
  app.post(
    '/me/email',
    {
      schema: {
        tags,
        operationId: 'me.changeEmail',
        summary: 'Change your e-mail address',
        description:
          'Sends a code to the new address, which `me.confirmEmail` takes within an hour. Where the instance sends no mail, the address changes at once, is not proved, and all other sessions of the person end. Needs an authentication within the last ten minutes.',
        body: changeEmailBody,
        response: { 200: emailChangeSchema },
      },
    },
    async (request) => {
      const { email } = request.body
      const status = await deps.emailChanges.request(changerOf(request), email, languageOf(request))
      return { status }
    },
  )

  app.post(
    '/me/email/confirm',
    {
      schema: {
        tags,
        operationId: 'me.confirmEmail',
        summary: 'Confirm your new e-mail address',
        description:
          'Changes the address with the code that went to it, in any session of the person who has requested it. All other sessions end. An address that was proved is proved again; one that was not stays so.',
        body: confirmEmailBody,
        response: { 200: emailChangeSchema },
      },
    },
    async (request) => {
      const { code } = request.body
      await deps.emailChanges.confirm(changerOf(request), code, languageOf(request))
      return { status: 'changed' as const }
    },
  )
}

function changerOf(request: FastifyRequest): Changer {
  const { person, session } = signedInOf(request)
  return { author: actorOf(request), person, sessionId: session.id }
}

function languageOf({ headers }: FastifyRequest) {
  return preferredLanguage(headers['accept-language'], MAIL_LANGUAGES, DEFAULT_MAIL_LANGUAGE)
}

export type AccountRouteDependencies = WalkContext & {
  readonly accounts: Accounts
  readonly resetLinks: ResetLinks
}

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
        tags: ['Instance'],
        operationId: 'people.list',
        summary: 'List people',
        description: 'Returns everyone with an account, by name. For operators of the instance.',
        headers: ifNoneMatchHeaders,
        querystring: pageQuery,
        response: { 200: accountList },
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
        tags: ['Instance'],
        operationId: 'people.patch',
        summary: 'Disable a person, or name an operator',
        description:
          'For operators of the instance. A person who is disabled cannot sign in, and all sessions end. One whose address is not proved and who becomes an operator is signed out and loses all ways to sign in: give them a link for a new password. The instance keeps an operator.',
        params: idParams,
        body: patchAccountBody,
        response: { 200: accountSchema },
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
        tags: ['Instance'],
        operationId: 'people.delete',
        summary: 'Delete a person',
        description:
          'For operators of the instance. All sessions end, and nothing that names the person stays: events lose their author within 30 days. The instance keeps an operator, and every workspace an owner. Needs a recent authentication. Cannot be undone.',
        params: idParams,
        response: {
          200: accountDeleted,
          ...REFUSED,
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
        tags: ['Instance'],
        operationId: 'people.resetPassword',
        summary: 'Make a link for a new password',
        description:
          'Returns a link for another person, this once. It works once, for 24 hours, as long as the operator is one. Passkeys and single sign-on accounts that the person does not confirm with the new password are removed; an authenticator app stays. For operators of the instance.',
        params: idParams,
        response: { 201: oneTimeLinkSchema, ...REFUSED },
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
        response: { 201: oneTimeLinkSchema, ...REFUSED },
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

export type PasswordResetRouteDependencies = {
  readonly passwordResets: PasswordResets
  readonly trustedProxies: Networks
}

export const passwordResetRoutes: FastifyPluginAsyncZod<PasswordResetRouteDependencies> = async (
  app,
  { passwordResets, trustedProxies },
) => {
  app.post(
    '/password-resets',
    {
      schema: {
        tags: ['Sign-in'],
        operationId: 'passwordResets.request',
        summary: 'Ask for a link to set a new password',
        description:
          'Sends the link by e-mail where the address has an account with a password; the answer is the same where it has none. The link works once, within an hour. Where the instance sends no mail, the answer is 422, and an admin or operator can make a link.',
        body: requestPasswordResetBody,
        response: { 202: passwordResetRequested },
      },
    },
    async (request, reply) => {
      const address = subscriberOf(addressOf(request.raw, trustedProxies))
      const language = preferredLanguage(
        request.headers['accept-language'],
        MAIL_LANGUAGES,
        DEFAULT_MAIL_LANGUAGE,
      )
      passwordResets.request(request.body.email, address, language)
      const message = 'If an account has this address, an e-mail is on its way.' as const
      return reply.code(202).send({ message })
    },
  )

  app.post(
    '/password-resets/look-up',
    {
      schema: {
        tags: ['Sign-in'],
        operationId: 'passwordResets.lookUp',
        summary: 'Read a link for a new password',
        description:
          'Returns what signs in as the person besides the password, without using the link: passkeys and single sign-on accounts that `passwordResets.complete` removes unless the person confirms them.',
        body: lookUpPasswordResetBody,
        response: { 200: passwordResetDetailsSchema },
      },
    },
    async (request) => presentDetails(await passwordResets.lookUp(request.body.code)),
  )

  app.post(
    '/password-resets/complete',
    {
      schema: {
        tags: ['Sign-in'],
        operationId: 'passwordResets.complete',
        summary: 'Set a new password with the code of a link',
        description:
          'Sets the password, and ends all sessions of the person. It starts no session: a second factor is still required. Passkeys and single sign-on accounts that the request does not name are removed; a passkey that is the only second factor stays, and no longer signs in without the password until it was used with it. With a link that an operator made, it is removed too. The first link that came by mail proves the address, and removes whatever else was set up before.',
        body: resetPasswordBody,
        response: { 200: passwordReset },
      },
    },
    async (request) => {
      const { code, password, keep_passkeys, keep_identities } = request.body
      const confirmed = { passkeys: keep_passkeys ?? [], identities: keep_identities ?? [] }
      await passwordResets.complete(code, password, confirmed, request.id)
      return { message: 'Password changed. Sign in with the new one.' as const }
    },
  )
}

function presentDetails({
  passkeys,
  identities,
  mayKeep,
}: ResetDetails): PasswordResetDetailsResource {
  return {
    passkeys: passkeys.map(({ id, name, created_at }) => ({
      id,
      name,
      created_at: formatInstant(created_at),
    })),
    identities: identities.map((identity) => ({
      id: identityIdOf(identity),
      issuer: identity.issuer,
      linked_at: formatInstant(identity.created_at),
    })),
    may_keep: mayKeep,
  }
}

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
import { ifNoneMatchHeaders } from '@terse/contract/primitives'
import type { FastifyRequest } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { INVALID, NOT_MODIFIED, SESSION_FAILURES } from '../../platform/http/api/responses.ts'
import { preferredLanguage } from '../../platform/http/preferred-language.ts'
import { formatInstant } from '../../platform/time/clock.ts'
import { actorOf, signedInOf } from '../access/authentication.ts'
import { DEFAULT_MAIL_LANGUAGE, MAIL_LANGUAGES } from '../mails/mail-layout.ts'
import { identityIdOf } from '../oidc/store/identity-store.ts'
import { presentPerson } from '../sessions/present.ts'
import type { Changer, EmailChanges } from './email-changes.ts'
import type { People } from './people.ts'
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
        response: { 200: meSchema, ...NOT_MODIFIED, ...SESSION_FAILURES },
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
        response: { 200: meSchema, ...INVALID, ...SESSION_FAILURES },
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
        response: { 200: passwordChanged, ...INVALID, ...SESSION_FAILURES },
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
        response: { 200: emailChangeSchema, ...INVALID, ...SESSION_FAILURES },
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
        response: { 200: emailChangeSchema, ...INVALID, ...SESSION_FAILURES },
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

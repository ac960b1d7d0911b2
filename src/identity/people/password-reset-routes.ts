import {
  lookUpPasswordResetBody,
  type PasswordResetDetailsResource,
  passwordReset,
  passwordResetDetailsSchema,
  passwordResetRequested,
  requestPasswordResetBody,
  resetPasswordBody,
} from '@terse/contract/sign-in'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { INVALID, OPEN_FAILURES } from '../../platform/http/api/responses.ts'
import { addressOf } from '../../platform/http/forwarded.ts'
import { preferredLanguage } from '../../platform/http/preferred-language.ts'
import { type Networks, subscriberOf } from '../../platform/network/ip-address.ts'
import { formatInstant } from '../../platform/time/clock.ts'
import { DEFAULT_MAIL_LANGUAGE, MAIL_LANGUAGES } from '../mails/mail-layout.ts'
import { identityIdOf } from '../oidc/store/identity-store.ts'
import type { PasswordResets, ResetDetails } from './password-resets.ts'

const tags = ['Sign-in']

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
        tags,
        operationId: 'passwordResets.request',
        summary: 'Ask for a link to set a new password',
        description:
          'Sends the link by e-mail where the address has an account with a password; the answer is the same where it has none. The link works once, within an hour. Where the instance sends no mail, the answer is 422, and an admin or operator can make a link.',
        body: requestPasswordResetBody,
        response: { 202: passwordResetRequested, ...INVALID, ...OPEN_FAILURES },
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
        tags,
        operationId: 'passwordResets.lookUp',
        summary: 'Read a link for a new password',
        description:
          'Returns what signs in as the person besides the password, without using the link: passkeys and single sign-on accounts that `passwordResets.complete` removes unless the person confirms them.',
        body: lookUpPasswordResetBody,
        response: { 200: passwordResetDetailsSchema, ...INVALID, ...OPEN_FAILURES },
      },
    },
    async (request) => presentDetails(await passwordResets.lookUp(request.body.code)),
  )

  app.post(
    '/password-resets/complete',
    {
      schema: {
        tags,
        operationId: 'passwordResets.complete',
        summary: 'Set a new password with the code of a link',
        description:
          'Sets the password, and ends all sessions of the person. It starts no session: a second factor is still required. Passkeys and single sign-on accounts that the request does not name are removed; a passkey that is the only second factor stays, and no longer signs in without the password until it was used with it. With a link that an operator made, it is removed too. The first link that came by mail proves the address, and removes whatever else was set up before.',
        body: resetPasswordBody,
        response: { 200: passwordReset, ...INVALID, ...OPEN_FAILURES },
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

import {
  confirmTotpBody,
  recoveryCodesSchema,
  totpConfirmed,
  totpDeleted,
  totpSetupSchema,
} from '@terse/contract/me'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import {
  type FastifyInstanceZod,
  INVALID,
  INVALID_BODY,
  NOT_FOUND,
  SESSION_FAILURES,
} from '../../platform/http/api/responses.ts'
import type { WalkContext } from '../../platform/http/api/walk.ts'
import { changerOf } from './changer-of.ts'
import type { OwnFactors } from './own-factors.ts'
import type { OwnPasskeys } from './own-passkeys.ts'
import { registerPasskeys } from './passkey-routes.ts'

const tags = ['Me']

export type SecondFactorRouteDependencies = WalkContext & {
  readonly ownFactors: OwnFactors
  readonly ownPasskeys: OwnPasskeys
}

export const secondFactorRoutes: FastifyPluginAsyncZod<SecondFactorRouteDependencies> = async (
  app,
  deps,
) => {
  registerTotp(app, deps)
  registerPasskeys(app, deps)
}

function registerTotp(app: FastifyInstanceZod, deps: SecondFactorRouteDependencies): void {
  app.post(
    '/me/totp',
    {
      schema: {
        tags,
        operationId: 'me.startTotp',
        summary: 'Begin to set up an authenticator app',
        description:
          'Returns a secret for the app. It takes effect when `PUT` confirms it with a code; an app that is set up already works until then. Needs an authentication within the last ten minutes.',
        response: { 201: totpSetupSchema, ...INVALID_BODY, ...SESSION_FAILURES },
      },
    },
    async (request, reply) => {
      const { secret, url } = await deps.ownFactors.startTotp(changerOf(request))
      return reply.code(201).send({ secret, url })
    },
  )

  app.put(
    '/me/totp',
    {
      schema: {
        tags,
        operationId: 'me.confirmTotp',
        summary: 'Confirm an authenticator app',
        description:
          'Puts the last secret into effect, and ends all other sessions. The code that confirms it cannot be used again. Needs an authentication within the last ten minutes.',
        body: confirmTotpBody,
        response: { 200: totpConfirmed, ...INVALID, ...SESSION_FAILURES },
      },
    },
    async (request) => {
      await deps.ownFactors.confirmTotp(changerOf(request), request.body.code)
      return { message: 'Authenticator app set up. All other sessions have ended.' as const }
    },
  )

  app.delete(
    '/me/totp',
    {
      schema: {
        tags,
        operationId: 'me.deleteTotp',
        summary: 'Remove the authenticator app',
        description:
          'Removes it, and ends all other sessions. The last second factor stays while the password has fewer than 15 characters. Needs an authentication within the last ten minutes.',
        response: { 200: totpDeleted, ...NOT_FOUND, ...INVALID, ...SESSION_FAILURES },
      },
    },
    async (request) => {
      await deps.ownFactors.removeTotp(changerOf(request))
      return { message: 'Authenticator app removed' as const }
    },
  )

  app.post(
    '/me/recovery-codes',
    {
      schema: {
        tags,
        operationId: 'me.createRecoveryCodes',
        summary: 'Get new recovery codes',
        description:
          'Returns ten codes, each of which works once in place of a code of the app, and ends all other sessions. Earlier ones stop working. Needs a second factor, and an authentication within the last ten minutes.',
        response: { 201: recoveryCodesSchema, ...INVALID, ...SESSION_FAILURES },
      },
    },
    async (request, reply) => {
      const codes = await deps.ownFactors.replaceRecoveryCodes(changerOf(request))
      return reply.code(201).send({ codes: [...codes] })
    },
  )
}

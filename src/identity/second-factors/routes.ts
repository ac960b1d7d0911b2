import {
  confirmTotpBody,
  recoveryCodesSchema,
  totpConfirmed,
  totpDeleted,
  totpSetupSchema,
} from '@terse/contract/me'
import { pageQuery } from '@terse/contract/pagination'
import {
  createPasskeyBody,
  type PasskeyResource,
  passkeyDeleted,
  passkeyList,
  passkeyOptionsSchema,
  passkeySchema,
  renamePasskeyBody,
} from '@terse/contract/passkeys'
import { idParams, ifNoneMatchHeaders } from '@terse/contract/primitives'
import type { FastifyReply } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { type FastifyInstanceZod, NOT_FOUND, REFUSED } from '../../platform/http/api/responses.ts'
import { type WalkContext, wholeList } from '../../platform/http/api/walk.ts'
import { formatInstant } from '../../platform/time/clock.ts'
import { signedInOf } from '../authentication.ts'
import type { Passkey } from '../store/credential-store.ts'
import { changerOf, type OwnFactors } from './own-factors.ts'
import type { OwnPasskeys, PasskeyOptions } from './own-passkeys.ts'

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
        response: { 201: totpSetupSchema },
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
        response: { 200: totpConfirmed },
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
        response: { 200: totpDeleted, ...NOT_FOUND, ...REFUSED },
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
        response: { 201: recoveryCodesSchema, ...REFUSED },
      },
    },
    async (request, reply) => {
      const codes = await deps.ownFactors.replaceRecoveryCodes(changerOf(request))
      return reply.code(201).send({ codes: [...codes] })
    },
  )
}

type PasskeyRouteDependencies = WalkContext & { readonly ownPasskeys: OwnPasskeys }

function registerPasskeys(app: FastifyInstanceZod, deps: PasskeyRouteDependencies): void {
  registerOptions(app, deps)
  registerList(app, deps)
}

function registerOptions(app: FastifyInstanceZod, { ownPasskeys }: PasskeyRouteDependencies): void {
  app.post(
    '/session/passkey-options',
    {
      schema: {
        tags: ['Sign-in'],
        operationId: 'session.createPasskeyOptions',
        summary: 'Get what a browser needs to sign in with a passkey',
        description:
          'Returns the options of `navigator.credentials.get`, for `POST /session` and `POST /session/authenticate`. The answer’s cookie holds the challenge, which works once within five minutes.',
        response: { 200: passkeyOptionsSchema, ...REFUSED },
      },
    },
    async (_request, reply) => sendOptions(reply, await ownPasskeys.requestOptions()),
  )

  app.post(
    '/me/passkeys/options',
    {
      schema: {
        tags: ['Me'],
        operationId: 'me.createPasskeyOptions',
        summary: 'Get what a browser needs to make a passkey',
        description:
          'Returns the options of `navigator.credentials.create`, for `POST /me/passkeys`. The answer’s cookie holds the challenge, which works once within five minutes. Needs an authentication within the last ten minutes.',
        response: { 200: passkeyOptionsSchema, ...REFUSED },
      },
    },
    async (request, reply) =>
      sendOptions(reply, await ownPasskeys.creationOptions(signedInOf(request).person)),
  )
}

function registerList(app: FastifyInstanceZod, deps: PasskeyRouteDependencies): void {
  const { ownPasskeys } = deps
  app.get(
    '/me/passkeys',
    {
      schema: {
        tags: ['Me'],
        operationId: 'me.listPasskeys',
        summary: 'List your passkeys',
        description: 'Returns the passkeys of the person who is signed in, the oldest first.',
        headers: ifNoneMatchHeaders,
        querystring: pageQuery,
        response: { 200: passkeyList },
      },
    },
    async (request) => {
      const { person } = signedInOf(request)
      return wholeList(request, deps, request.query, {
        owner: person.id,
        items: await ownPasskeys.list(person),
        orderOf: ({ created_at, id }) => [created_at, id],
        present,
      })
    },
  )

  app.post(
    '/me/passkeys',
    {
      schema: {
        tags: ['Me'],
        operationId: 'me.createPasskey',
        summary: 'Add a passkey',
        description:
          'Adds a passkey that the browser has made, and ends all other sessions. Needs an authentication within the last ten minutes.',
        body: createPasskeyBody,
        response: { 201: passkeySchema },
      },
    },
    async (request, reply) => {
      const { cookie } = request.headers
      const passkey = await ownPasskeys.add(changerOf(request), request.body, cookie)
      return reply.code(201).send(present(passkey))
    },
  )

  app.patch(
    '/me/passkeys/:id',
    {
      schema: {
        tags: ['Me'],
        operationId: 'me.patchPasskey',
        summary: 'Rename a passkey',
        description: 'Changes the name.',
        params: idParams,
        body: renamePasskeyBody,
        response: { 200: passkeySchema },
      },
    },
    async (request) => {
      const { id } = request.params
      return present(await ownPasskeys.rename(changerOf(request), id, request.body.name))
    },
  )

  app.delete(
    '/me/passkeys/:id',
    {
      schema: {
        tags: ['Me'],
        operationId: 'me.deletePasskey',
        summary: 'Delete a passkey',
        description:
          'Deletes it, and ends all other sessions. The last second factor stays while the password has fewer than 15 characters. Needs an authentication within the last ten minutes.',
        params: idParams,
        response: { 200: passkeyDeleted, ...REFUSED },
      },
    },
    async (request) => {
      await ownPasskeys.remove(changerOf(request), request.params.id)
      return { message: 'Passkey deleted' as const }
    },
  )
}

function sendOptions(reply: FastifyReply, { publicKey, setCookie }: PasskeyOptions) {
  reply.header('Set-Cookie', setCookie)
  return { public_key: publicKey }
}

function present({ id, name, created_at, last_used_at }: Passkey): PasskeyResource {
  return {
    id,
    name,
    created_at: formatInstant(created_at),
    last_used_at: last_used_at === null ? null : formatInstant(last_used_at),
  }
}

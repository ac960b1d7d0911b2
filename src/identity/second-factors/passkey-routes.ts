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
import {
  type FastifyInstanceZod,
  INVALID,
  INVALID_QUERY,
  NOT_FOUND,
  NOT_MODIFIED,
  OPEN_FAILURES,
  SESSION_FAILURES,
} from '../../platform/http/api/responses.ts'
import { type WalkContext, wholeList } from '../../platform/http/api/walk.ts'
import { formatInstant } from '../../platform/time/clock.ts'
import { signedInOf } from '../access/authentication.ts'
import { changerOf } from './changer-of.ts'
import type { OwnPasskeys, PasskeyOptions } from './own-passkeys.ts'
import type { Passkey } from './store/passkey-store.ts'

const tags = ['Me']

type PasskeyRouteDependencies = WalkContext & { readonly ownPasskeys: OwnPasskeys }

export function registerPasskeys(app: FastifyInstanceZod, deps: PasskeyRouteDependencies): void {
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
        response: { 200: passkeyOptionsSchema, ...INVALID, ...OPEN_FAILURES },
      },
    },
    async (_request, reply) => sendOptions(reply, await ownPasskeys.requestOptions()),
  )

  app.post(
    '/me/passkeys/options',
    {
      schema: {
        tags,
        operationId: 'me.createPasskeyOptions',
        summary: 'Get what a browser needs to make a passkey',
        description:
          'Returns the options of `navigator.credentials.create`, for `POST /me/passkeys`. The answer’s cookie holds the challenge, which works once within five minutes. Needs an authentication within the last ten minutes.',
        response: { 200: passkeyOptionsSchema, ...INVALID, ...SESSION_FAILURES },
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
        tags,
        operationId: 'me.listPasskeys',
        summary: 'List your passkeys',
        description: 'Returns the passkeys of the person who is signed in, the oldest first.',
        headers: ifNoneMatchHeaders,
        querystring: pageQuery,
        response: { 200: passkeyList, ...NOT_MODIFIED, ...INVALID_QUERY, ...SESSION_FAILURES },
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
        tags,
        operationId: 'me.createPasskey',
        summary: 'Add a passkey',
        description:
          'Adds a passkey that the browser has made, and ends all other sessions. Needs an authentication within the last ten minutes.',
        body: createPasskeyBody,
        response: { 201: passkeySchema, ...INVALID, ...SESSION_FAILURES },
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
        tags,
        operationId: 'me.patchPasskey',
        summary: 'Rename a passkey',
        description: 'Changes the name.',
        params: idParams,
        body: renamePasskeyBody,
        response: { 200: passkeySchema, ...NOT_FOUND, ...INVALID, ...SESSION_FAILURES },
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
        tags,
        operationId: 'me.deletePasskey',
        summary: 'Delete a passkey',
        description:
          'Deletes it, and ends all other sessions. The last second factor stays while the password has fewer than 15 characters. Needs an authentication within the last ten minutes.',
        params: idParams,
        response: { 200: passkeyDeleted, ...NOT_FOUND, ...INVALID, ...SESSION_FAILURES },
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

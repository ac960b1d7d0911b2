import { problemSchema } from '@terse/contract/errors'
import {
  identityParams,
  identityUnlinked,
  linkIdentityBody,
  oidcStartSchema,
  startOidcBody,
} from '@terse/contract/oidc'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { Failure } from '../../platform/failure.ts'
import { HttpRefusal } from '../../platform/http/api/problem.ts'
import {
  INVALID,
  NOT_FOUND,
  OPEN_FAILURES,
  SESSION_FAILURES,
} from '../../platform/http/api/responses.ts'
import { signedInOf } from '../access/authentication.ts'
import { changerOf } from '../second-factors/changer-of.ts'
import { localPath } from './local-path.ts'
import type { OidcAttempts, OidcIntent } from './oidc-attempts.ts'
import { OidcFault } from './oidc-fault.ts'
import type { OidcProvider } from './oidc-provider.ts'
import type { OidcSignIn } from './oidc-sign-in.ts'
import type { OwnIdentities } from './own-identities.ts'

const NO_SINGLE_SIGN_ON = {
  404: problemSchema.describe('This instance has no single sign-on.'),
}

/** Single sign-on with one provider. */
export type Oidc = {
  /** How the provider is called on the sign-in page. */
  readonly name: string
  readonly provider: OidcProvider
  readonly attempts: OidcAttempts
  readonly signIn: OidcSignIn
}

export type OidcRouteDependencies = {
  /** Undefined without single sign-on. */
  readonly oidc: Oidc | undefined
  readonly ownIdentities: OwnIdentities
  readonly baseUrl: string
}

/** The ways of the API to begin; `browserRoutes` has the pages that the browser goes through. */
export const oidcRoutes: FastifyPluginAsyncZod<OidcRouteDependencies> = async (app, deps) => {
  app.post(
    '/session/oidc',
    {
      config: { mayTakeLong: true },
      schema: {
        tags: ['Sign-in'],
        operationId: 'session.startOidc',
        summary: 'Begin to sign in with the provider',
        description:
          'Returns the address to which the browser goes, to sign in or to accept an invitation. The answer’s cookie ties the rest to this browser, for ten minutes.',
        body: startOidcBody,
        response: { 200: oidcStartSchema, ...NO_SINGLE_SIGN_ON, ...INVALID, ...OPEN_FAILURES },
      },
    },
    (request, reply) => {
      const { invitation: code, return_to: returnTo } = request.body
      const intent: OidcIntent =
        code === undefined ? { kind: 'sign-in' } : { kind: 'invitation', code }
      return start(deps, reply, intent, returnTo)
    },
  )

  app.post(
    '/me/identities',
    {
      config: { mayTakeLong: true },
      schema: {
        tags: ['Me'],
        operationId: 'me.linkIdentity',
        summary: 'Begin to link an account with the provider',
        description:
          'Returns the address to which the browser goes. The account with which the person signs in there leads to them from then on. Needs an authentication within the last ten minutes.',
        body: linkIdentityBody,
        response: { 200: oidcStartSchema, ...NO_SINGLE_SIGN_ON, ...INVALID, ...SESSION_FAILURES },
      },
    },
    (request, reply) => {
      const { person } = signedInOf(request)
      return start(deps, reply, { kind: 'link', personId: person.id }, request.body.return_to)
    },
  )

  app.delete(
    '/me/identities/:id',
    {
      schema: {
        tags: ['Me'],
        operationId: 'me.unlinkIdentity',
        summary: 'Unlink an account with the provider',
        description:
          'Unlinks it, and ends all other sessions. The last way to sign in stays: set a password first. Needs an authentication within the last ten minutes.',
        params: identityParams,
        response: { 200: identityUnlinked, ...NOT_FOUND, ...INVALID, ...SESSION_FAILURES },
      },
    },
    async (request) => {
      await deps.ownIdentities.unlink(changerOf(request), request.params.id)
      return { message: 'Account unlinked. All other sessions have ended.' as const }
    },
  )
}

async function start(
  deps: OidcRouteDependencies,
  reply: FastifyReply,
  intent: OidcIntent,
  returnTo: string | undefined,
): Promise<{ url: string }> {
  try {
    const { url, setCookie } = await beginOidc(deps, intent, returnTo)
    reply.header('Set-Cookie', setCookie)
    return { url }
  } catch (error) {
    if (!(error instanceof OidcFault)) throw error
    logOidcFault(reply.request, error)
    const message = 'The provider of single sign-on cannot be reached. Try again.'
    throw Failure.unavailable(error, { kind: 'single_sign_on', message })
  }
}

/** @throws {OidcFault} `oidc_unavailable` */
export async function beginOidc(
  { oidc, baseUrl }: OidcRouteDependencies,
  intent: OidcIntent,
  returnTo: string | undefined,
): Promise<{ readonly url: string; readonly setCookie: string }> {
  const { provider, attempts } = requireOidc(oidc)
  const { attempt, setCookie } = attempts.begin(intent, localPath(returnTo, baseUrl))
  return { url: await provider.authorizationUrl(attempt), setCookie }
}

/** @throws {HttpRefusal} `not_found` without single sign-on */
export function requireOidc(oidc: Oidc | undefined): Oidc {
  if (oidc !== undefined) return oidc
  throw new HttpRefusal('not_found', 'This instance has no single sign-on (TERSE_OIDC_ISSUER).')
}

export function logOidcFault(request: FastifyRequest, { code, details }: OidcFault): void {
  request.log.warn({ reqId: request.id, code, ...details }, 'single sign-on failed')
}

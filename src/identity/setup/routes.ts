import { ifNoneMatchHeaders } from '@terse/contract/primitives'
import { sessionSchema, setupBody, signInOptionsSchema } from '@terse/contract/sign-in'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { INVALID, NOT_MODIFIED, OPEN_FAILURES } from '../../platform/http/api/responses.ts'
import type { Mailer } from '../../platform/mail/mailer.ts'
import { originOf, type SessionRouteDependencies } from '../sessions/routes.ts'
import type { AnswerSession } from '../sessions/session-answers.ts'
import type { Setup } from './setup.ts'
import type { SetupLinks } from './setup-links.ts'

const tags = ['Sign-in']

export type SetupRouteDependencies = Pick<
  SessionRouteDependencies,
  'trustedProxies' | 'baseUrl'
> & {
  readonly setup: Setup
  readonly setupLinks: SetupLinks
  readonly answerSession: AnswerSession
  /** Undefined without single sign-on. */
  readonly oidc: { readonly name: string } | undefined
  /** Undefined when no mail is sent. */
  readonly mailer: Mailer | undefined
}

export const setupRoutes: FastifyPluginAsyncZod<SetupRouteDependencies> = async (app, deps) => {
  app.get(
    '/sign-in-options',
    {
      schema: {
        tags,
        operationId: 'signIn.getOptions',
        summary: 'Show how to sign in',
        description: 'Returns what a page needs to know before anybody has signed in.',
        headers: ifNoneMatchHeaders,
        response: { 200: signInOptionsSchema, ...NOT_MODIFIED, ...OPEN_FAILURES },
      },
    },
    async () => ({
      setup_required: await deps.setupLinks.isRequired(),
      oidc: deps.oidc === undefined ? null : { name: deps.oidc.name },
      mail: deps.mailer !== undefined,
      base_url: deps.baseUrl,
    }),
  )

  app.post(
    '/setup',
    {
      schema: {
        tags,
        operationId: 'setup.complete',
        summary: 'Set up the first person',
        description:
          'Creates the first person, who operates the instance and owns every workspace that has no owner, and signs in. The code is printed at the first start, and by `terse setup`; it works once, for 24 hours.',
        body: setupBody,
        response: { 201: sessionSchema, ...INVALID, ...OPEN_FAILURES },
      },
    },
    async (request, reply) => {
      const opened = await deps.setup.complete(request.body, originOf(request, deps))
      reply.code(201)
      return deps.answerSession(reply, opened)
    },
  )
}

import { explainBody, explanationSchema } from '@terse/contract/explain'
import { idParams } from '@terse/contract/primitives'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { actorOf } from '../identity/index.ts'
import type { Explanations } from './explanations.ts'

export type ExplainRouteDependencies = { readonly explanations: Explanations }

export const explainRoutes: FastifyPluginAsyncZod<ExplainRouteDependencies> = async (
  app,
  { explanations },
) => {
  app.post(
    '/links/:id/explain',
    {
      schema: {
        tags: ['Links'],
        operationId: 'links.explain',
        summary: 'Explain where a visitor of a link goes',
        description:
          'Decides where a made-up visitor, or that of a recorded click, is sent, by the code that decides visits, and returns why: the rule or variant that decided, the condition that failed for each rule before it, the parts of the address, and how the visit counts. Nothing is counted or stored. `rules` and `url` try out a change before it is saved.',
        params: idParams,
        body: explainBody,
        response: { 200: explanationSchema },
      },
    },
    async (request) => explanations.explain(actorOf(request), request.params.id, request.body),
  )
}

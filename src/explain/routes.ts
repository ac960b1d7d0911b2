import {
  examplesBody,
  examplesSchema,
  explainBody,
  explanationSchema,
  type LinkExamplesResource,
} from '@terse/contract/explain'
import { idParams, ifMatchHeaders, ifNoneMatchHeaders } from '@terse/contract/primitives'
import type { FastifyReply } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { type Actor, actorOf } from '../identity/index.ts'
import { type Link, type LinkInput, linkVersion } from '../links/index.ts'
import { expectedVersions, tagged } from '../platform/http/api/entity-tags.ts'
import type { ExpectedVersions } from '../platform/version.ts'
import type { Explanations } from './explanations.ts'

export type ExplainRouteDependencies = {
  readonly explanations: Explanations
  readonly links: {
    get(actor: Actor, id: string): Promise<Link>
    update(actor: Actor, id: string, input: LinkInput, expected?: ExpectedVersions): Promise<Link>
  }
}

const tags = ['Links']

/** Returns a link's examples with their entity tag, whose version is the link's. */
function presentExamples(reply: FastifyReply, link: Link): LinkExamplesResource {
  return tagged(reply, { examples: [...(link.examples ?? [])] }, linkVersion(link))
}

export const explainRoutes: FastifyPluginAsyncZod<ExplainRouteDependencies> = async (
  app,
  { explanations, links },
) => {
  app.post(
    '/links/:id/explain',
    {
      schema: {
        tags,
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

  app.get(
    '/links/:id/examples',
    {
      schema: {
        tags,
        operationId: 'links.getExamples',
        summary: 'Show the examples of a link',
        description:
          'Returns the visitors that are tried before a change of the link’s rules or destinations, with what they get.',
        params: idParams,
        headers: ifNoneMatchHeaders,
        response: { 200: examplesSchema },
      },
    },
    async (request, reply) =>
      presentExamples(reply, await links.get(actorOf(request), request.params.id)),
  )

  app.put(
    '/links/:id/examples',
    {
      schema: {
        tags,
        operationId: 'links.setExamples',
        summary: 'Replace the examples of a link',
        description:
          'Replaces all examples of the link; an empty list removes them. What is left out of `expected` is what the visitor gets now.',
        params: idParams,
        headers: ifMatchHeaders,
        body: examplesBody,
        response: { 200: examplesSchema },
      },
    },
    async (request, reply) => {
      const { params, body } = request
      const link = await links.update(actorOf(request), params.id, body, expectedVersions(request))
      return presentExamples(reply, link)
    },
  )
}

import { acceptChangesQuery } from '@terse/contract/explain'
import { type RevertLinkBody, revertLinkBody } from '@terse/contract/link-history'
import { linkSchema } from '@terse/contract/links'
import { idParams, ifMatchHeaders } from '@terse/contract/primitives'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { type Actor, actorOf } from '../identity/index.ts'
import { expectedVersions, tagged } from '../platform/http/api/entity-tags.ts'
import type { ExpectedVersions } from '../platform/version.ts'
import { acceptanceOf, EXAMPLES_CHANGED } from './accept-changes.ts'
import { type Link, linkVersion, presentLink } from './link.ts'

export type RevertRouteDependencies = {
  readonly linkHistory: {
    revert(
      actor: Actor,
      id: string,
      body: RevertLinkBody,
      expected: ExpectedVersions,
      options: ReturnType<typeof acceptanceOf>,
    ): Promise<Link>
  }
}

export const revertRoutes: FastifyPluginAsyncZod<RevertRouteDependencies> = async (
  app,
  { linkHistory },
) => {
  app.post(
    '/links/:id/revert',
    {
      schema: {
        tags: ['Links'],
        operationId: 'links.revert',
        summary: 'Undo a change of a link',
        description:
          'Sets fields of the link back, as an update that sends their earlier values: with its checks, and an event of its own. With `sequence`, the fields that this change changed get the values that they had before it, whatever happened to them since. With `to`, the link gets the state that it had after this change. A password or examples that were changed cannot be set back, because no log has them: then `fields` must name other fields. The link is returned unchanged where it has these values.',
        params: idParams,
        headers: ifMatchHeaders,
        querystring: acceptChangesQuery,
        body: revertLinkBody,
        response: { 200: linkSchema, ...EXAMPLES_CHANGED },
      },
    },
    async (request, reply) => {
      const { params, body, query } = request
      const expected = expectedVersions(request)
      const options = acceptanceOf(query)
      const link = await linkHistory.revert(actorOf(request), params.id, body, expected, options)
      return tagged(reply, presentLink(link), linkVersion(link))
    },
  )
}

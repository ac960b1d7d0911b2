import { type LabelsResource, labelsBody, labelsSchema } from '@terse/contract/labels'
import { ifMatchHeaders, ifNoneMatchHeaders } from '@terse/contract/primitives'
import type { FastifyReply } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { actorOf } from '../identity/index.ts'
import { expectedVersions, tagged } from '../platform/http/api/entity-tags.ts'
import { type Labels, labelsVersion } from './labels.ts'
import type { LabelSettings } from './store/label-store.ts'

const tags = ['Labels']

export type LabelRouteDependencies = { readonly labels: Labels }

function present(reply: FastifyReply, settings: LabelSettings): LabelsResource {
  const { parameter, labels } = settings
  return tagged(reply, { parameter, labels: [...labels] }, labelsVersion(settings))
}

export const labelRoutes: FastifyPluginAsyncZod<LabelRouteDependencies> = async (
  app,
  { labels },
) => {
  app.get(
    '/labels',
    {
      schema: {
        tags,
        operationId: 'labels.get',
        summary: 'Show the settings for labels',
        description:
          'Returns the parameter of short links that has the label of a visit, and the listed labels. Which labels were clicked is in `GET /clicks?group_by=label`.',
        headers: ifNoneMatchHeaders,
        response: { 200: labelsSchema },
      },
    },
    async (request, reply) => present(reply, await labels.get(actorOf(request))),
  )

  app.put(
    '/labels',
    {
      schema: {
        tags,
        operationId: 'labels.update',
        summary: 'Change the settings for labels',
        description:
          'Changes how visits to the links of the workspace get labels from now on. A label is counted with the click and taken out of what goes on to the destination; the `label` condition of rules reads it.',
        headers: ifMatchHeaders,
        body: labelsBody,
        response: { 200: labelsSchema },
      },
    },
    async (request, reply) =>
      present(
        reply,
        await labels.update(actorOf(request), request.body, expectedVersions(request)),
      ),
  )
}

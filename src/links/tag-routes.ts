import { ifNoneMatchHeaders } from '@terse/contract/primitives'
import {
  deleteTagsBody,
  listTagsQuery,
  renameTagsBody,
  tagPage,
  tagsChanged,
} from '@terse/contract/tags'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { actorOf } from '../identity/index.ts'
import { envelope, offsetOf, pageRequestOf } from '../platform/http/api/pagination.ts'
import type { Tags } from './tags.ts'

const tags = ['Tags']
const config = { mayTakeLong: true } as const
const changed = { 200: tagsChanged }

export type TagRouteDependencies = { readonly tags: Tags; readonly baseUrl: string }

export const tagRoutes: FastifyPluginAsyncZod<TagRouteDependencies> = async (app, deps) => {
  app.get(
    '/tags',
    {
      config,
      schema: {
        tags,
        operationId: 'tags.list',
        summary: 'List tags',
        description: 'Returns the tags of the workspace, with the number of links that carry each.',
        headers: ifNoneMatchHeaders,
        querystring: listTagsQuery,
        response: { 200: tagPage },
      },
    },
    async (request) => {
      const { search, sort = 'name' } = request.query
      const pageRequest = pageRequestOf(request.query)
      const { items, total } = await deps.tags.list(actorOf(request), {
        search,
        sort: {
          field: sort.endsWith('links') ? 'links' : 'name',
          descending: sort.startsWith('-'),
        },
        offset: offsetOf(pageRequest),
        limit: pageRequest.perPage,
      })
      const page = { items: items.map(({ tag, links }) => ({ name: tag, links })), total }
      return envelope(request, deps.baseUrl, pageRequest, page)
    },
  )

  app.post(
    '/tags/rename',
    {
      config,
      schema: {
        tags,
        operationId: 'tags.rename',
        summary: 'Rename or merge tags',
        description:
          'Gives one or several tags another name, on all links of the workspace. With many links, the answer comes before all are changed: send the request again until `done` is true.',
        body: renameTagsBody,
        response: changed,
      },
    },
    (request) => deps.tags.replace(actorOf(request), request.body.tags, request.body.name),
  )

  app.post(
    '/tags/delete',
    {
      config,
      schema: {
        tags,
        operationId: 'tags.delete',
        summary: 'Delete tags',
        description:
          'Takes tags from all links of the workspace. With many links, the answer comes before all are changed: send the request again until `done` is true.',
        body: deleteTagsBody,
        response: changed,
      },
    },
    (request) => deps.tags.replace(actorOf(request), request.body.tags, undefined),
  )
}

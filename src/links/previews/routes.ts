import { linkOptionsSchema } from '@terse/contract/link-options'
import {
  IMAGE_UPLOAD_BYTES_MAX,
  IMAGE_UPLOAD_TYPES,
  previewSchema,
  readPreviewBody,
  uploadedImageSchema,
} from '@terse/contract/previews'
import { idParams, ifMatchHeaders } from '@terse/contract/primitives'
import type { FastifyPluginAsync } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { actorOf } from '../../identity/index.ts'
import { expectedVersions, tagged } from '../../platform/http/api/entity-tags.ts'
import { HttpRefusal } from '../../platform/http/api/problem.ts'
import { REFUSED, tooLargeFor } from '../../platform/http/api/responses.ts'
import { linkVersion, presentOptions } from '../link.ts'
import { IMAGE_FOLDER, type ImageType, parseImageName } from './image-name.ts'
import type { Images } from './images.ts'
import type { Previews } from './previews.ts'

export type PreviewRouteDependencies = {
  readonly images: Images
  readonly previews: Previews
}

const tags = ['Previews']
const TYPES = { png: 'image/png', jpg: 'image/jpeg' } as const satisfies Record<ImageType, string>

export const previewRoutes: FastifyPluginAsyncZod<PreviewRouteDependencies> = async (app, deps) => {
  const { previews } = deps
  app.post(
    '/previews',
    {
      config: { mayTakeLong: true },
      schema: {
        tags,
        operationId: 'previews.read',
        summary: 'Read the preview of a page',
        description:
          'Loads a page and returns what it says of itself for programs that show links: its Open Graph and Twitter tags, else its title and description. Its image is stored in the workspace. No link is changed. Pages in private networks are refused.',
        body: readPreviewBody,
        response: { 200: previewSchema },
      },
    },
    (request) => previews.read(actorOf(request), request.body.url),
  )
  app.post(
    '/links/:id/preview',
    {
      config: { mayTakeLong: true },
      schema: {
        tags,
        operationId: 'links.readPreview',
        summary: 'Take the preview of a link from its destination',
        description:
          'Loads the page at `url` of the link once, and sets `title`, `description` and `image` of the link to what it says of itself; to null what it does not say. Pages in private networks are refused.',
        params: idParams,
        headers: ifMatchHeaders,
        response: { 200: linkOptionsSchema, ...REFUSED },
      },
    },
    async (request, reply) => {
      const expected = expectedVersions(request)
      const link = await previews.readInto(actorOf(request), request.params.id, expected)
      return tagged(reply, presentOptions(link), linkVersion(link))
    },
  )
  await app.register(uploadRoutes, { ...deps, prefix: '' })
}

const uploadRoutes: FastifyPluginAsyncZod<PreviewRouteDependencies> = async (app, { images }) => {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser([...IMAGE_UPLOAD_TYPES], { parseAs: 'buffer' }, (_request, body, done) =>
    done(null, body),
  )
  app.post(
    '/images',
    {
      bodyLimit: IMAGE_UPLOAD_BYTES_MAX,
      config: { mayTakeLong: true },
      schema: {
        tags,
        operationId: 'images.create',
        summary: 'Upload an image',
        description:
          'Stores a PNG, JPEG, WebP or GIF of at most 1 MiB and 16 megapixels, encoded again without its metadata and with at most 1,200 pixels a side. Its URL goes into `image` of links. The same image is stored once; one that no link of the workspace has used for 7 days is deleted.',
        body: z.unknown().meta({ type: 'string', format: 'binary' }),
        consumes: [...IMAGE_UPLOAD_TYPES],
        response: { 201: uploadedImageSchema, ...REFUSED, ...tooLargeFor(IMAGE_UPLOAD_BYTES_MAX) },
      },
    },
    async (request, reply) => {
      const bytes = request.body instanceof Uint8Array ? request.body : new Uint8Array()
      const image = await images.add(actorOf(request), bytes, 'image')
      const { url, type, width, height, bytes: size } = image
      return reply.code(201).send({ url, type: TYPES[type], width, height, bytes: size })
    },
  )
}

/**
 * As files of strangers: they run nothing, load nothing, and are taken for nothing but what they are. Sites and programs of
 * others show them.
 */
const FILE_HEADERS = {
  'Cache-Control': 'public, max-age=31536000, immutable',
  'Content-Security-Policy': "default-src 'none'; sandbox",
  'Cross-Origin-Resource-Policy': 'cross-origin',
}

/** Serves uploaded images from the service's own host. */
export const imageFiles: FastifyPluginAsync<{ readonly images: Images }> = async (
  app,
  { images },
) => {
  app.get<{ Params: { name: string } }>(
    `${IMAGE_FOLDER}:name`,
    { schema: { hide: true } },
    async ({ params, headers }, reply) => {
      const name = parseImageName(params.name)
      const image = name && (await images.find(name))
      if (image === undefined) {
        throw new HttpRefusal('not_found', 'There is nothing at this address.')
      }
      const etag = `"${image.hash}"`
      reply.headers({ ...FILE_HEADERS, ETag: etag })
      if (headers['if-none-match'] === etag) return reply.code(304).send()
      return reply.type(TYPES[image.type]).send(image.data)
    },
  )
}

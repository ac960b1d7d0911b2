import type { FastifyReply, FastifyRequest } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { type QrCodeParameters, qrCodeBody, qrCodeQuery } from '../../contract/links.ts'
import { idParams } from '../../contract/primitives.ts'
import { Failure } from '../../domain/failure.ts'
import type { Link } from '../../domain/links/link.ts'
import { scannableLink } from '../../domain/links/short-link.ts'
import { BLACK, parseModuleColor } from '../../domain/qr/color.ts'
import { qrEntityTag } from '../../domain/qr/qr-pictures.ts'
import type { AppDependencies } from '../app-dependencies.ts'
import { workspaceOf } from '../authentication.ts'
import { FAILURES, INVALID, INVALID_QUERY, NOT_FOUND } from './responses.ts'

const png = {
  description: 'The QR code of the short link.',
  content: { 'image/png': { schema: z.unknown().meta({ type: 'string', format: 'binary' }) } },
}

const notModified = z.null().describe('The picture is the one that `If-None-Match` names.')

export const qrCodeRoutes: FastifyPluginAsyncZod<AppDependencies> = async (app, deps) => {
  async function sendQrCode(
    request: FastifyRequest,
    reply: FastifyReply,
    link: Link,
    parameters: QrCodeParameters,
  ): Promise<FastifyReply> {
    const color =
      parameters.color === undefined ? { value: BLACK } : parseModuleColor(parameters.color)
    if ('fault' in color) throw Failure.invalid({ color: [color.fault] })
    const task = { text: scannableLink(link, parameters.track === true), color: color.value }
    const tag = qrEntityTag(task)
    if (request.method === 'GET') {
      // A cached picture may be shown again only after this service has confirmed it.
      reply.headers({ ETag: tag, 'Cache-Control': 'private, no-cache' })
      if (request.headers['if-none-match']?.includes(tag)) return reply.code(304).send()
    }
    const picture = await deps.qrPictures.get(workspaceOf(request), task)
    const disposition = parameters.download === true ? 'attachment' : 'inline'
    return reply
      .header('Content-Type', 'image/png')
      .header('Content-Disposition', `${disposition}; filename="${fileName(link)}"`)
      .send(picture)
  }

  const route = {
    config: { scope: 'links:read' },
    schema: { tags: ['Links'], params: idParams, querystring: qrCodeQuery },
  } as const

  app.get(
    '/links/:id/qr-code',
    {
      ...route,
      schema: {
        ...route.schema,
        summary: 'QR code of a link',
        response: { 200: png, 304: notModified, ...NOT_FOUND, ...INVALID_QUERY, ...FAILURES },
      },
    },
    async (request, reply) => {
      const link = await deps.links.get(workspaceOf(request), request.params.id)
      return sendQrCode(request, reply, link, request.query)
    },
  )

  app.put(
    '/links/:id/qr-code',
    {
      ...route,
      schema: {
        ...route.schema,
        summary: 'QR code of a link',
        body: qrCodeBody,
        response: { 200: png, ...NOT_FOUND, ...INVALID, ...FAILURES },
      },
    },
    async (request, reply) => {
      const link = await deps.links.get(workspaceOf(request), request.params.id)
      return sendQrCode(request, reply, link, {
        color: request.body?.color ?? request.query.color,
        download: request.body?.download ?? request.query.download,
        track: request.body?.track ?? request.query.track,
      })
    },
  )
}

/** Plain characters only: what a key may hold besides is not safe in every file system. */
function fileName(link: Link): string {
  return `${`${link.domain}-${link.key}`.replace(/[^a-zA-Z0-9._-]+/g, '-').slice(0, 100)}.png`
}

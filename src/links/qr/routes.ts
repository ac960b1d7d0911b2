import { idParams, ifNoneMatchHeaders } from '@terse/contract/primitives'
import { type QrCodeParameters, qrCodeBody, qrCodeQuery } from '@terse/contract/qr-code'
import { visitAddress } from '@terse/contract/visit-address'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { actorOf } from '../../identity/index.ts'
import { Failure } from '../../platform/failure.ts'
import { contentDisposition } from '../../platform/http/content-disposition.ts'
import { type Link, scannableAddress, shortLink } from '../link.ts'
import type { Links } from '../links.ts'
import { parseLogo } from './logo.ts'
import {
  BLACK,
  parseModuleColor,
  QR_MARGIN_DEFAULT,
  type QrFormat,
  type QrTask,
} from './qr-code.ts'
import { type QrPictures, qrEntityTag } from './qr-pictures.ts'

const CONTENT_TYPES: Readonly<Record<QrFormat, string>> = {
  png: 'image/png',
  svg: 'image/svg+xml',
}

const NAME_CHARACTERS_MAX = 100

const picture = {
  description: 'The QR code of the short link.',
  content: {
    'image/png': { schema: z.unknown().meta({ type: 'string', format: 'binary' }) },
    'image/svg+xml': { schema: z.string() },
  },
}

const SUMMARY = 'QR code of a link'

export type QrRouteDependencies = {
  readonly links: Pick<Links, 'get'>
  readonly qrPictures: QrPictures
  readonly baseUrl: string
}

export const qrCodeRoutes: FastifyPluginAsyncZod<QrRouteDependencies> = async (app, deps) => {
  const service = new URL(deps.baseUrl)

  async function sendQrCode(
    request: FastifyRequest,
    reply: FastifyReply,
    link: Link,
    parameters: QrCodeParameters,
  ): Promise<FastifyReply> {
    const task = taskOf(link, parameters, service)
    const tag = qrEntityTag(task)
    if (request.method !== 'PUT') {
      // Browsers may cache the picture, but must revalidate it: the link may have changed.
      reply.headers({ ETag: tag, 'Cache-Control': 'private, no-cache' })
      if (isKnown(tag, request.headers['if-none-match'])) return reply.code(304).send()
    }
    const drawn = await deps.qrPictures.get(actorOf(request), task)
    const kind = parameters.download === true ? 'attachment' : 'inline'
    return reply
      .header('Content-Type', CONTENT_TYPES[task.format])
      .header('Content-Disposition', contentDisposition(kind, fileName(link, task.format)))
      .send(drawn)
  }

  const route = {
    schema: { tags: ['Links'], params: idParams, querystring: qrCodeQuery, summary: SUMMARY },
  } as const

  app.get(
    '/links/:id/qr-code',
    {
      ...route,
      schema: {
        ...route.schema,
        operationId: 'links.getQrCode',
        description: 'Draws the QR code of the short link, with the parameters of the query.',
        headers: ifNoneMatchHeaders,
        response: { 200: picture },
      },
    },
    async (request, reply) => {
      const link = await deps.links.get(actorOf(request), request.params.id)
      return sendQrCode(request, reply, link, request.query)
    },
  )

  app.put(
    '/links/:id/qr-code',
    {
      ...route,
      schema: {
        ...route.schema,
        operationId: 'links.drawQrCode',
        description:
          'Draws the QR code of the short link. Parameters may be in the body as well, and a logo only there.',
        body: qrCodeBody,
        response: { 200: picture },
      },
    },
    async (request, reply) => {
      const link = await deps.links.get(actorOf(request), request.params.id)
      const ofBody = Object.entries(request.body ?? {}).filter(([, value]) => value !== null)
      return sendQrCode(request, reply, link, { ...request.query, ...Object.fromEntries(ofBody) })
    },
  )
}

function taskOf(link: Link, parameters: QrCodeParameters, service: URL): QrTask {
  const color =
    parameters.color === undefined ? { value: BLACK } : parseModuleColor(parameters.color)
  if ('fault' in color) throw Failure.invalid({ color: [color.fault] })
  const logo = parameters.logo === undefined ? { value: undefined } : parseLogo(parameters.logo)
  if ('fault' in logo) throw Failure.invalid({ logo: [logo.fault] })
  const level = parameters.level ?? (logo.value === undefined ? 'M' : 'H')
  if (logo.value !== undefined && (level === 'L' || level === 'M')) {
    throw Failure.invalid({
      level: [{ code: 'incompatible', reason: 'one_of', allowed: ['Q', 'H'], other: 'logo' }],
    })
  }
  const { domain } = link
  const short = shortLink(link)
  const address =
    parameters.address === 'visit' ? visitAddress({ domain, link: short }, service) : short
  return {
    text: scannableAddress(address, parameters.track === true),
    color: color.value,
    format: parameters.format ?? 'png',
    size: parameters.size,
    margin: parameters.margin ?? QR_MARGIN_DEFAULT,
    level,
    logo: logo.value,
  }
}

/** Compares weakly (RFC 9110, section 13.1.2). */
function isKnown(tag: string, ifNoneMatch: string | undefined): boolean {
  return ifNoneMatch?.includes(tag.replace('W/', '')) ?? false
}

function fileName(link: Link, format: QrFormat): string {
  // By code points, so that no surrogate pair is split.
  const name = Array.from(`${link.domain}-${link.key}`).slice(0, NAME_CHARACTERS_MAX).join('')
  return `${name}.${format}`
}

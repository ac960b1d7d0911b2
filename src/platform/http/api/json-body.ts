import type { FastifyInstance } from 'fastify'

export const BODY_BYTES_MAX = 64 * 1024

export function bodyTooLarge(bytesMax: number): string {
  return `The body is larger than ${bytesMax / 1024} KiB.`
}

/**
 * Accepts JSON as the only body type. An empty body with the JSON content type counts as no body, because
 * clients send the header on every request, deletes and QR codes included.
 */
export function acceptJsonOnly(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null, undefined)
    else parse(request, body as string, done)
  })
}

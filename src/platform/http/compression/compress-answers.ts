import { pipeline, Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { codedTag } from '../api/entity-tags.ts'
import { CODINGS, type ContentCoding, preferredCoding } from './accept-encoding.ts'
import { COMPRESSED_BYTES_MIN, isCompressibleType } from './compressible.ts'
import type { Compressor } from './compressor.ts'
import { GzipStream } from './gzip-stream.ts'

/** Brotli has no form that is made piece by piece without keeping a compressor. */
const STREAM_CODINGS: readonly ContentCoding[] = ['gzip']

/**
 * Compresses the answers to reads where the client accepts it.
 *
 * Answers to writes stay as they are: they are small, and a secret that is shown once, such as a token, is
 * shown in one of them. The length of a compressed answer can betray a secret in it to a stranger who has
 * the same browser send requests that repeat guesses (BREACH). Reads of the API are safe from that:
 * they carry a token in a header, which no other site can have a browser send.
 */
export function compressAnswers(app: FastifyInstance, compressor: Compressor): void {
  app.addHook('onSend', async (request, reply, payload) => {
    if (!isCompressible(request, reply)) return payload
    if (payload instanceof Readable) return compressStream(request, reply, payload, compressor)
    if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return payload
    if (Buffer.byteLength(payload) < COMPRESSED_BYTES_MIN) return payload
    reply.header('Vary', 'Accept-Encoding')
    const coding = preferredCoding(request.headers['accept-encoding'], CODINGS)
    if (coding === undefined) return payload
    const encoded = await compressor.compress({ body: payload, form: coding, effort: 'each' })
    if (encoded === undefined) return payload
    reply.header('Content-Encoding', coding)
    const tag = reply.getHeader('ETag')
    if (typeof tag === 'string') reply.header('ETag', codedTag(tag, coding))
    return encoded
  })
}

function compressStream(
  request: FastifyRequest,
  reply: FastifyReply,
  source: Readable,
  compressor: Compressor,
): Readable {
  reply.header('Vary', 'Accept-Encoding')
  const coding = preferredCoding(request.headers['accept-encoding'], STREAM_CODINGS)
  if (coding === undefined) return source
  reply.header('Content-Encoding', coding)
  // An error of either ends both, and Fastify handles that of the stream which it sends.
  return pipeline(source, new GzipStream(compressor), () => {})
}

function isCompressible(request: FastifyRequest, reply: FastifyReply): boolean {
  return (
    (request.method === 'GET' || request.method === 'HEAD') &&
    // What varies already, an asset, has its coding.
    !reply.hasHeader('Vary') &&
    isCompressibleType(reply.getHeader('Content-Type'))
  )
}

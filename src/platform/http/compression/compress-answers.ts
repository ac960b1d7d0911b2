import { pipeline, Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { codedTag } from '../api/entity-tags.ts'
import {
  CODINGS,
  COMPRESSED_BYTES_MIN,
  type ContentCoding,
  isCompressibleType,
  preferredCoding,
} from './compressible.ts'
import { type Compressor, GzipStream } from './compressor.ts'

/** Brotli is excluded: it cannot compress in pieces without keeping a compressor for each answer. */
const STREAM_CODINGS: readonly ContentCoding[] = ['gzip']

/**
 * Compresses the answers to reads when the client accepts it. @fastify/compress does so in libuv's thread pool, which
 * syncs the click journal, without a bound, and keeps a compressor for each client that stops reading.
 *
 * Answers to writes stay uncompressed: they are small, and secrets that are shown once, such as tokens,
 * are in them. The length of a compressed answer can reveal a secret in it to an attacker who makes the
 * same browser send requests that contain guesses (BREACH). Reads of a workspace are safe from that:
 * they need a header, `Authorization` or `Terse-Workspace`, that no other site can make a browser send.
 */
export function compressAnswers(app: FastifyInstance, compressor: Compressor): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    if (!isCompressible(request, reply)) {
      done(null, payload)
    } else if (payload instanceof Readable) {
      done(null, compressStream(request, reply, payload, compressor))
    } else if (typeof payload === 'string' || Buffer.isBuffer(payload)) {
      const compressed = compressBody(request, reply, payload, compressor)
      // What follows may throw too, when the answer is written.
      compressed.then((encoded) => done(null, encoded)).catch(done)
    } else {
      done(null, payload)
    }
  })
}

async function compressBody(
  request: FastifyRequest,
  reply: FastifyReply,
  body: string | Buffer,
  compressor: Compressor,
): Promise<string | Buffer> {
  if (Buffer.byteLength(body) < COMPRESSED_BYTES_MIN) return body
  reply.header('Vary', 'Accept-Encoding')
  const coding = preferredCoding(request.headers['accept-encoding'], CODINGS)
  if (coding === undefined) return body
  const encoded = await compressor.compress({ body, form: coding, effort: 'each' })
  if (encoded === undefined) return body
  reply.header('Content-Encoding', coding)
  const tag = reply.getHeader('ETag')
  if (typeof tag === 'string') reply.header('ETag', codedTag(tag, coding))
  return encoded
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
  // `pipeline` destroys both streams on an error; Fastify handles the error of the one that it sends.
  return pipeline(source, new GzipStream(compressor), () => {})
}

function isCompressible(request: FastifyRequest, reply: FastifyReply): boolean {
  return (
    (request.method === 'GET' || request.method === 'HEAD') &&
    // An asset has set `Vary`, and is compressed already.
    !reply.hasHeader('Vary') &&
    isCompressibleType(reply.getHeader('Content-Type'))
  )
}

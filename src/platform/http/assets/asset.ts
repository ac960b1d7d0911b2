import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  CODINGS,
  COMPRESSED_BYTES_MIN,
  type ContentCoding,
  isCompressibleType,
  preferredCoding,
} from '../compression/compressible.ts'
import type { Compressor } from '../compression/compressor.ts'

/** In hexadecimal, of a SHA-256. 12 digits are 48 bits. */
const HASH_CHARACTERS = 12

type AssetOptions = {
  readonly body: Buffer
  readonly contentType: string
  /** Whether its URL contains its hash, so that the content at that URL never changes. */
  readonly isImmutable: boolean
  readonly headers?: Readonly<Record<string, string>>
  /** The body as it was compressed before the start. */
  readonly encoded?: ReadonlyMap<ContentCoding, Buffer>
}

/**
 * A file or document that is the same for every client. It is compressed once for each content coding, at
 * the first request for it unless it comes compressed, and every answer sends the same buffer.
 */
export class Asset {
  readonly #body: Buffer
  readonly #isCompressible: boolean
  readonly #compressor: Compressor
  readonly #encoded = new Map<ContentCoding, Promise<Buffer | undefined>>()
  readonly #etag: string
  readonly #headers: Readonly<Record<string, string>>

  constructor(compressor: Compressor, options: AssetOptions) {
    const { body, contentType, isImmutable, headers, encoded = new Map() } = options
    for (const [coding, bytes] of encoded) this.#encoded.set(coding, Promise.resolve(bytes))
    this.#compressor = compressor
    this.#body = body
    this.#isCompressible = body.length >= COMPRESSED_BYTES_MIN && isCompressibleType(contentType)
    // Weak, because it is the same for every content coding.
    this.#etag = `W/"${contentHash(body)}"`
    this.#headers = {
      'Content-Type': contentType,
      'Cache-Control': isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache',
      ETag: this.#etag,
      ...(this.#isCompressible && { Vary: 'Accept-Encoding' }),
      ...headers,
    }
  }

  async send(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    reply.headers(this.#headers)
    if (this.#isKnownTo(request.headers['if-none-match'])) return reply.code(304).send()
    const coding = this.#isCompressible
      ? preferredCoding(request.headers['accept-encoding'], CODINGS)
      : undefined
    const encoded = coding && (await this.encoded(coding))
    if (encoded === undefined) return reply.send(this.#body)
    return reply.header('Content-Encoding', coding).send(encoded)
  }

  /** Returns the same buffer each time; undefined while the compressor's queue is full. */
  encoded(coding: ContentCoding): Promise<Buffer | undefined> {
    const known = this.#encoded.get(coding)
    if (known !== undefined) return known
    const task = { body: this.#body, form: coding, effort: 'once' } as const
    const encoding = this.#compressor.compress(task).then((encoded) => {
      if (encoded === undefined) this.#encoded.delete(coding)
      return encoded
    })
    this.#encoded.set(coding, encoding)
    return encoding
  }

  /** Whether the client has the current content, by weak comparison (RFC 9110, section 13.1.2). */
  #isKnownTo(ifNoneMatch: string | undefined): boolean {
    if (ifNoneMatch === undefined) return false
    const weak = (tag: string) => tag.trim().replace(/^W\//, '')
    const known = ifNoneMatch.split(',').map(weak)
    return known.includes('*') || known.includes(weak(this.#etag))
  }
}

/** A name that changes with the content: `page.css` becomes `page.3f2a….css`. */
export function hashedName(name: string, body: Buffer): string {
  const dot = name.lastIndexOf('.')
  return `${name.slice(0, dot)}.${contentHash(body)}${name.slice(dot)}`
}

function contentHash(body: Buffer): string {
  return createHash('sha256').update(body).digest('hex').slice(0, HASH_CHARACTERS)
}

import { createHash } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { ExpectedVersions } from '../../version.ts'
import { CODINGS, type ContentCoding } from '../compression/accept-encoding.ts'
import { HttpRefusal } from './problem.ts'

/** Of base64url: 96 bits of a SHA-256. */
const HASH_LENGTH = 16
/** Between the version and the hash; base64url has none. */
const SEPARATOR = '.'

const ENTITY_TAG = /(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"/g
/** Blanks can match in one way only, so that no header takes longer than its length. */
const ENTITY_TAGS = /^(?:[ \t]*(?:(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"[ \t]*)?(?:,|$))+$/
const CODING_SUFFIX = new RegExp(`-(?:${CODINGS.join('|')})"$`)

/**
 * A strong entity tag (RFC 9110, section 8.8.3) that changes with every byte of the answer.
 *
 * @param body the answer as it is before a coding
 * @param version what `If-Match` compares of the tag; empty where nothing is written
 */
export function entityTag(body: string | Buffer, version = ''): string {
  const hash = createHash('sha256').update(body).digest('base64url').slice(0, HASH_LENGTH)
  return version === '' ? `"${hash}"` : `"${version}${SEPARATOR}${hash}"`
}

/** The tag of the same answer in a coding, whose bytes are others. A weak tag holds for all codings. */
export function codedTag(tag: string, coding: ContentCoding): string {
  return tag.startsWith('W/') ? tag : `${tag.slice(0, -1)}-${coding}"`
}

/**
 * The versions that `If-Match` names; undefined where any will do.
 *
 * Weak tags name none: they do not promise that nothing has changed (RFC 9110, section 13.1.1).
 *
 * @throws {HttpRefusal} for what is no list of entity tags
 */
export function expectedVersions({ headers }: FastifyRequest): ExpectedVersions {
  const sent = headers['if-match']
  if (sent === undefined || sent.trim() === '*') return undefined
  if (!ENTITY_TAGS.test(sent)) {
    throw new HttpRefusal(
      'bad_request',
      'If-Match must be * or entity tags as in ETag, with their quotes.',
    )
  }
  return [...sent.matchAll(ENTITY_TAG)]
    .filter(([, weak]) => weak === undefined)
    .map(([, , opaque = '']) => opaque.split(SEPARATOR, 1)[0] ?? '')
}

/**
 * Gives every answer to a read of the API its entity tag, and answers 304 where the client has it
 * already. Call before answers are compressed.
 */
export function tagAnswers(app: FastifyInstance): void {
  app.addHook('onSend', async (request, reply, payload) => {
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    if (!isRead || reply.statusCode !== 200 || request.routeOptions.config.scope === undefined) {
      return payload
    }
    // An export is sent as it is read, so nothing is known of it yet.
    if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return payload
    if (!reply.hasHeader('ETag')) reply.header('ETag', entityTag(payload))
    const known = findKnown(request.headers['if-none-match'], String(reply.getHeader('ETag')))
    if (known === undefined) return payload
    reply.code(304).header('Vary', 'Accept-Encoding').removeHeader('Content-Type')
    if (known !== '*') reply.header('ETag', known)
    return null
  })
}

/** The tag of the client's that is this one, whatever its coding, by weak comparison; or `*`. */
function findKnown(ifNoneMatch: string | undefined, tag: string): string | undefined {
  if (ifNoneMatch === undefined) return undefined
  if (ifNoneMatch.trim() === '*') return '*'
  const strong = (text: string) => text.replace(/^W\//, '')
  return [...ifNoneMatch.matchAll(ENTITY_TAG)]
    .map(([text]) => strong(text))
    .find((text) => text === strong(tag) || text.replace(CODING_SUFFIX, '"') === strong(tag))
}

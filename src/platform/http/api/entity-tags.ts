import { hash } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ExpectedVersions } from '../../version.ts'
import { CODINGS, type ContentCoding } from '../compression/compressible.ts'
import { HttpRefusal } from './problem.ts'

/** In base64url characters: 96 bits of a SHA-256. */
const HASH_LENGTH = 16
/** Separates the version from the hash; base64url does not contain it. */
const SEPARATOR = '.'

const ENTITY_TAG = /(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"/g
/** Blanks match in only one way, so that matching takes time linear in the header's length. */
const ENTITY_TAGS = /^(?:[ \t]*(?:(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"[ \t]*)?(?:,|$))+$/
const CODING_SUFFIX = new RegExp(`-(?:${CODINGS.join('|')})"$`)

/**
 * A strong entity tag (RFC 9110, section 8.8.3) that changes with every byte of the answer.
 *
 * @param body the answer before compression
 * @param version the part of the tag that `If-Match` compares; empty for resources that cannot be written
 */
function entityTag(body: string | Buffer, version = ''): string {
  const digest = hash('sha256', body, 'base64url').slice(0, HASH_LENGTH)
  return version === '' ? `"${digest}"` : `"${version}${SEPARATOR}${digest}"`
}

/** Returns an answer after setting its entity tag. */
export function tagged<T>(reply: FastifyReply, shown: T, version: string): T {
  reply.header('ETag', entityTag(JSON.stringify(shown), version))
  return shown
}

/** The tag of the same answer in a content coding, whose bytes differ. A weak tag covers all codings. */
export function codedTag(tag: string, coding: ContentCoding): string {
  return tag.startsWith('W/') ? tag : `${tag.slice(0, -1)}-${coding}"`
}

/**
 * The versions that `If-Match` names; undefined when any version is accepted.
 *
 * Weak tags never match: they do not promise identical content (RFC 9110, section 13.1.1).
 *
 * @throws {HttpRefusal} when the header is not a list of entity tags
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
 * Sets the entity tag of every answer to a read of the API, and answers 304 when `If-None-Match` has
 * that tag. Call before answers are compressed. @fastify/etag knows neither versions for `If-Match` nor content codings.
 */
export function tagAnswers(app: FastifyInstance): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    const isTagged =
      isRead && reply.statusCode === 200 && request.routeOptions.config.operation !== undefined
    // An export is streamed, so there is no content to hash.
    if (isTagged && (typeof payload === 'string' || Buffer.isBuffer(payload))) {
      done(null, tagAnswer(request, reply, payload))
    } else {
      done(null, payload)
    }
  })
}

/** Returns what to send: nothing where the client knows the answer. */
function tagAnswer(
  request: FastifyRequest,
  reply: FastifyReply,
  body: string | Buffer,
): string | Buffer | null {
  if (!reply.hasHeader('ETag')) reply.header('ETag', entityTag(body))
  const known = findKnown(request.headers['if-none-match'], String(reply.getHeader('ETag')))
  if (known === undefined) return body
  reply.code(304).header('Vary', 'Accept-Encoding').removeHeader('Content-Type')
  if (known !== '*') reply.header('ETag', known)
  return null
}

/** The client's tag that matches by weak comparison, in any content coding; or `*`. */
function findKnown(ifNoneMatch: string | undefined, tag: string): string | undefined {
  if (ifNoneMatch === undefined) return undefined
  if (ifNoneMatch.trim() === '*') return '*'
  const strong = (text: string) => text.replace(/^W\//, '')
  return [...ifNoneMatch.matchAll(ENTITY_TAG)]
    .map(([text]) => strong(text))
    .find((text) => text === strong(tag) || text.replace(CODING_SUFFIX, '"') === strong(tag))
}

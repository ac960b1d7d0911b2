import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { HttpRefusal, problem } from '../../platform/http/api/problem.ts'
import { parseHost, type RequestTarget, splitTarget } from '../../platform/http/request-target.ts'
import type { Clock } from '../../platform/time/clock.ts'
import {
  formatOembed,
  OEMBED_PATH,
  OEMBED_TYPES,
  type OembedFormat,
  oembedCacheSeconds,
  type ShownLink,
} from './oembed.ts'

export type OembedDependencies = {
  readonly shownLinks: {
    /**
     * Returns what programs may show of the link at an address: undefined for nothing, `protected` for a link with a
     * password.
     *
     * @throws {Failure} `unavailable`
     */
    find(target: RequestTarget): Promise<ShownLink | 'protected' | undefined>
  }
  readonly clock: Clock
  /** Counts the request against the limits of its address. */
  readonly limitRequests: (request: FastifyRequest, reply: FastifyReply) => Promise<void>
}

/** Scripts of any page may read the answers: they contain no more than the link shows to any visitor. */
const HEADERS = { 'Access-Control-Allow-Origin': '*', 'X-Robots-Tag': 'noindex' }

/** Serves what programs show of a link that they embed. Such a request is not counted as a visit. */
export const oembedRoute: FastifyPluginAsync<OembedDependencies> = async (app, deps) => {
  const { shownLinks, clock, limitRequests } = deps
  app.get(OEMBED_PATH, { schema: { hide: true } }, async (request, reply) => {
    reply.headers(HEADERS)
    await limitRequests(request, reply)
    const { searchParams: query } = new URL(request.url, 'http://service.invalid')
    const target = targetOf(query.get('url') ?? '')
    const bounds = {
      maxWidth: pixelsOf(query, 'maxwidth'),
      maxHeight: pixelsOf(query, 'maxheight'),
    }
    const format = query.get('format') ?? 'json'
    if (!isOffered(format)) {
      const message = 'The formats are json and xml.'
      return reply.code(501).send(problem('bad_request', message, request.id))
    }
    const shown = await shownLinks.find(target)
    if (shown === undefined) throw new HttpRefusal('not_found', 'There is no such link.')
    if (shown === 'protected') throw new HttpRefusal('unauthorized', 'The link has a password.')
    const cacheSeconds = oembedCacheSeconds(shown, clock.nowMicros() / 1_000)
    return reply
      .header('Cache-Control', `public, max-age=${cacheSeconds}`)
      .type(`${OEMBED_TYPES[format]}; charset=utf-8`)
      .send(formatOembed(shown, format, { bounds, cacheSeconds }))
  })
}

function isOffered(format: string): format is OembedFormat {
  return Object.hasOwn(OEMBED_TYPES, format)
}

/** Returns what a visitor would request who opens a URL, whatever its port: short links name none. */
function targetOf(text: string): RequestTarget {
  const url = URL.parse(text)
  if (url === null) throw new HttpRefusal('bad_request', 'url is the address of a short link.')
  const host = /^https?:$/.test(url.protocol) ? parseHost(url.host) : undefined
  if (host === undefined) throw new HttpRefusal('not_found', 'There is no such link.')
  return splitTarget(host, url.pathname + url.search)
}

/** Returns a bound for thumbnails; Infinity where the query has none. */
function pixelsOf(query: URLSearchParams, name: string): number {
  const text = query.get(name)
  if (text === null) return Number.POSITIVE_INFINITY
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new HttpRefusal('bad_request', `${name} is a number of pixels.`)
}

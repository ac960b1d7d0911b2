import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { actorOf, type CallApi, callsAs } from '../../identity/index.ts'
import { type CompatDependencies, clientOf } from '../clients.ts'
import { usualDomain } from '../links.ts'
import { listDomains } from '../lists.ts'
import { domainNotFound, forbidden, noApiKey, noMercure, notFound, problemOf } from './problems.ts'
import { type ShlinkCall, ShlinkQuery } from './requests.ts'
import {
  createShortUrl,
  editShortUrl,
  findLink,
  listRules,
  listShortUrls,
  setRules,
  shortUrlOf,
} from './short-urls.ts'
import { countTags, deleteTags, listTags, renameTag } from './tags.ts'
import { countVisits, listVisits } from './visits.ts'

/** The release of Shlink that clients see. They offer their users what it has. */
const SHLINK_VERSION = '5.1.0'
/** The three versions answer alike. */
const BASE = '/rest/:version(^v[123]$)'
const HIDDEN = { schema: { hide: true }, config: { mayTakeLong: true } } as const
const PREFLIGHT_MAX_AGE_SECONDS = '3600'
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

type Method = (typeof METHODS)[number]
type Work = (api: ShlinkCall, request: FastifyRequest, reply: FastifyReply) => Promise<unknown>

/** Shlink's REST API at `/rest/v3`, and at `/rest/v1` and `/rest/v2` likewise. */
export const shlink: FastifyPluginAsync<CompatDependencies> = async (app, deps) => {
  app.setErrorHandler((error, request, reply) => {
    const problem = problemOf(error, request)
    return reply
      .code(problem.status)
      .headers(problem.headers)
      .type('application/problem+json')
      .send(JSON.stringify(problem.body))
  })
  app.addHook('onRequest', async ({ headers }, reply) => {
    if (headers.origin !== undefined) reply.header('Access-Control-Allow-Origin', '*')
  })
  acceptBodies(app)
  serveOpen(app)
  const on = (method: Method, path: string, work: Work) =>
    app.route({
      method,
      url: BASE + path,
      ...HIDDEN,
      exposeHeadRoute: false,
      // Before the body is read.
      onRequest: async (request, reply) => {
        const secret = secretOf(request, path)
        if (secret === undefined) throw noApiKey()
        await clientOf(app, deps, { service: 'shlink', secret, request, reply })
      },
      handler: async (request, reply) => {
        const call = callsAs(app, actorOf(request))
        return work(await withHosts(call, deps), request, reply)
      },
    })
  serveShortUrls(on)
  serveTags(on)
  serveVisits(on)
  serveDomains(on)
  on('GET', '/mercure-info', async () => {
    throw noMercure()
  })
}

/** A form, or else JSON, whatever its type. */
function acceptBodies(app: FastifyInstance): void {
  const parseJson = app.getDefaultJsonParser('error', 'error')
  const options = { parseAs: 'string' } as const
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/x-www-form-urlencoded', options, (_request, body, done) => {
    const form = new URLSearchParams(String(body))
    const fields = [...new Set(form.keys())].map((name) =>
      name.endsWith('[]') ? [name.slice(0, -2), form.getAll(name)] : [name, form.get(name)],
    )
    done(null, Object.fromEntries(fields))
  })
  app.addContentTypeParser('*', options, (request, body, done) => {
    if (body === '') done(null, undefined)
    else parseJson(request, String(body), done)
  })
}

/** Serves the paths that need no key. */
function serveOpen(app: FastifyInstance): void {
  const health = async (_request: FastifyRequest, reply: FastifyReply) => {
    const { statusCode, headers } = await app.inject('/readyz')
    const isUp = statusCode < 500
    const links = { about: 'https://shlink.io', project: 'https://github.com/shlinkio/shlink' }
    const retryAfter = headers['retry-after']
    if (retryAfter !== undefined) reply.header('Retry-After', retryAfter)
    const body = { status: isUp ? 'pass' : 'fail', version: SHLINK_VERSION, links }
    return reply
      .code(isUp ? 200 : 503)
      .type('application/health+json')
      .send(JSON.stringify(body))
  }
  for (const path of ['/rest/health', `${BASE}/health`]) app.get(path, HIDDEN, health)
  app.options('/rest/*', HIDDEN, async ({ headers }, reply) => {
    const asked = headers['access-control-request-headers']
    reply.headers({
      'Access-Control-Allow-Methods': METHODS.join(','),
      'Access-Control-Max-Age': PREFLIGHT_MAX_AGE_SECONDS,
      ...(asked !== undefined && { 'Access-Control-Allow-Headers': asked }),
    })
    return reply.code(204).send()
  })
  app.route({
    method: [...METHODS],
    url: '/rest/*',
    ...HIDDEN,
    exposeHeadRoute: false,
    onRequest: async ({ method, url }) => {
      throw notFound(method, url)
    },
    handler: async () => {},
  })
}

function secretOf(request: FastifyRequest, path: string): string | undefined {
  const header = request.headers['x-api-key']
  const secret =
    path === '/short-urls/shorten' ? new ShlinkQuery(request).text('apiKey') : header?.toString()
  return secret === '' ? undefined : secret
}

async function withHosts(call: CallApi, { baseUrl }: CompatDependencies): Promise<ShlinkCall> {
  const serviceHost = new URL(baseUrl).hostname
  return { call, serviceHost, defaultHost: await usualDomain(call, baseUrl) }
}

type On = (method: Method, path: string, work: Work) => void

/** Short codes may have slashes, which clients send as they are. */
function pathOf({ params }: FastifyRequest): { readonly name: string; readonly part: string } {
  const { '*': path } = params as { readonly '*': string }
  const [, name = path, part = ''] = /^(.+)\/(visits|redirect-rules)$/.exec(path) ?? []
  return { name, part }
}

function domainOf(request: FastifyRequest): string | undefined {
  return new ShlinkQuery(request).text('domain')
}

function serveShortUrls(on: On): void {
  const ALL = '/short-urls'
  const ONE = `${ALL}/*`
  const find = (api: ShlinkCall, request: FastifyRequest) =>
    findLink(api, pathOf(request).name, domainOf(request))
  const create = async (
    api: ShlinkCall,
    request: FastifyRequest,
    reply: FastifyReply,
    sent: unknown,
  ) => {
    const shortUrl = await createShortUrl(api, sent)
    return wantsText(request) ? reply.type('text/plain').send(shortUrl?.shortUrl) : shortUrl
  }

  on('GET', ALL, (api, request) => listShortUrls(api, new ShlinkQuery(request)))
  on('POST', ALL, (api, request, reply) => create(api, request, reply, request.body))
  on('GET', `${ALL}/shorten`, (api, request, reply) => {
    const longUrl = new ShlinkQuery(request).text('longUrl')
    return create(api, request, reply, { longUrl })
  })
  on('GET', ONE, async (api, request) => {
    const link = await find(api, request)
    const { part } = pathOf(request)
    if (part === 'visits') return listVisits(api, new ShlinkQuery(request), { link })
    return part === 'redirect-rules' ? listRules(api, link) : shortUrlOf(api, link)
  })
  on('POST', ONE, async (api, request) => {
    if (pathOf(request).part !== 'redirect-rules') throw notFound(request.method, request.url)
    return setRules(api, await find(api, request), request.body)
  })
  on('PATCH', ONE, async (api, request) => {
    const link = await find(api, request)
    const { part } = pathOf(request)
    if (part === 'redirect-rules') return setRules(api, link, request.body)
    if (part !== '') throw notFound(request.method, request.url)
    return editShortUrl(api, link, request.body)
  })
  on('DELETE', ONE, async (api, request, reply) => {
    const { id } = await find(api, request)
    const { part } = pathOf(request)
    if (part === 'visits') throw forbidden('Terse keeps visits for as long as their link.')
    if (part !== '') throw notFound(request.method, request.url)
    await api.call.delete(`/links/${id}`)
    return reply.code(204).send()
  })
}

/** The query decides, else the first type that the client accepts. */
function wantsText(request: FastifyRequest): boolean {
  const format = new ShlinkQuery(request).text('format')
  if (format !== undefined) return format.toLowerCase() === 'txt'
  const [first = ''] = request.headers.accept?.toLowerCase().split(',') ?? []
  return first.includes('text/plain')
}

function serveTags(on: On): void {
  on('GET', '/tags', (api, request) => listTags(api, new ShlinkQuery(request)))
  on('GET', '/tags/stats', (api, request) => countTags(api, new ShlinkQuery(request)))
  on('PUT', '/tags', async (api, request, reply) => {
    await renameTag(api, request.body)
    return reply.code(204).send()
  })
  on('DELETE', '/tags', async (api, request, reply) => {
    await deleteTags(api, new ShlinkQuery(request))
    return reply.code(204).send()
  })
}

function serveVisits(on: On): void {
  const hostOf = ({ defaultHost }: ShlinkCall, request: FastifyRequest) => {
    const domain = domainOf(request)
    return domain === 'DEFAULT' ? defaultHost : domain
  }
  on('GET', '/visits', (api) => countVisits(api))
  on('GET', '/visits/non-orphan', (api, request) =>
    listVisits(api, new ShlinkQuery(request), { host: hostOf(api, request) }),
  )
  on('GET', '/visits/orphan', (api, request) =>
    listVisits(api, new ShlinkQuery(request), undefined),
  )
  on('DELETE', '/visits/orphan', async () => ({ deletedVisits: 0 }))
  on('GET', '/tags/*', (api, request) => {
    const { name: tag, part } = pathOf(request)
    if (part !== 'visits') throw notFound(request.method, request.url)
    return listVisits(api, new ShlinkQuery(request), { tag, host: hostOf(api, request) })
  })
  on('GET', '/domains/:domain/visits', async (api, request) => {
    const { domain } = request.params as { readonly domain: string }
    const host = domain === 'DEFAULT' ? api.defaultHost : domain
    const hosts = await hostsOf(api)
    if (!hosts.has(host)) throw domainNotFound(domain)
    return listVisits(api, new ShlinkQuery(request), { host })
  })
}

const NO_REDIRECTS = {
  baseUrlRedirect: null,
  regular404Redirect: null,
  invalidShortUrlRedirect: null,
}

/** The hosts of links with what visits to no link of theirs lead to, the default first. */
async function hostsOf({ call, defaultHost, serviceHost }: ShlinkCall) {
  const domains = await listDomains(call)
  const hosts = new Map(domains.map(({ domain, not_found_url }) => [domain, not_found_url]))
  const shared = { domain: serviceHost, per_page: 1, fields: 'id', archived: 'any' }
  const { meta } = await call.get<{ meta: { total: number } }>('/links', shared)
  const isShared = meta.total > 0 && !hosts.has(serviceHost)
  return new Map([
    [defaultHost, hosts.get(defaultHost) ?? null],
    ...(isShared ? [[serviceHost, null] as const] : []),
    ...hosts,
  ])
}

function serveDomains(on: On): void {
  on('GET', '/domains', async (api) => {
    const hosts = await hostsOf(api)
    const data = [...hosts].map(([domain, url]) => ({
      domain,
      isDefault: domain === api.defaultHost,
      redirects: { baseUrlRedirect: url, regular404Redirect: url, invalidShortUrlRedirect: url },
    }))
    return { domains: { data, defaultRedirects: NO_REDIRECTS } }
  })
  on('PATCH', '/domains/redirects', async () => {
    throw forbidden('A key for the API of Shlink changes no domains: do it in Terse.')
  })
}

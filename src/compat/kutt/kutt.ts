import type { DomainResource } from '@terse/contract/domains'
import type { LinkResource } from '@terse/contract/links'
import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { actorOf, CallRefused, callsAs } from '../../identity/index.ts'
import { type CompatClient, type CompatDependencies, clientOf } from '../clients.ts'
import { type CompatLink, findPlainLink, readLink, usualDomain, WITH_OPTIONS } from '../links.ts'
import { listDomains, readSpan } from '../lists.ts'
import { takeForms } from '../parameters.ts'
import { linkInput, mayReuse, textOf } from './input.ts'
import { KuttRefusal, sendRefusal } from './refusals.ts'
import { statsOf } from './stats.ts'

const PREFIX = '/api/v2'
const LIMIT_DEFAULT = 10
const LIMIT_MAX = 50
/** Kutt checks nothing but the length of an identifier. */
const ID_LENGTH = 36
/** A new expiry that is less than this away from the old one counts as unchanged. */
const SAME_EXPIRY_MS = 60_000

const NO_DOMAINS = 'Domains are added and removed in the dashboard, or over the API of Terse.'

type Body = Readonly<Record<string, unknown>>
type Request = FastifyRequest<{
  Body: Body | undefined
  Params: { id: string }
  Querystring: Readonly<Record<string, unknown>>
}>

/** A client, with the domain of links for which it names none, and the names by which it knows the service. */
type Client = CompatClient & { readonly home: string; readonly serviceNames: ReadonlySet<string> }

/** The API of Kutt 3, version 2. */
export const kutt: FastifyPluginAsync<CompatDependencies> = async (app, deps) => {
  takeForms(app)
  app.setErrorHandler(sendRefusal)
  app.addHook('onRequest', async (request, reply) => {
    if (request.routeOptions.config.needsNoKey) return
    const secret = request.headers['x-api-key']
    if (typeof secret !== 'string') refuse(401, 'Unauthorized.')
    await clientOf(app, deps, { service: 'kutt', secret, request, reply })
  })

  async function clientFor(request: FastifyRequest): Promise<Client> {
    const actor = actorOf(request)
    const call = callsAs(app, actor)
    const home = await usualDomain(call, deps.baseUrl)
    return { actor, call, home, serviceNames: serviceNamesOf(request, deps) }
  }
  const answerWith =
    (operation: (client: Client, request: Request) => Promise<unknown>) =>
    async (request: FastifyRequest) =>
      operation(await clientFor(request), request as Request)

  const schema = { hide: true }
  const open = { schema, config: { needsNoKey: true as const } }
  const links = `${PREFIX}/links`
  app.get(links, { schema }, answerWith(showLinks))
  app.post(links, { schema }, async (request, reply) => {
    const { isNew, link } = await createLink(await clientFor(request), request as Request)
    return reply.code(isNew ? 201 : 200).send(link)
  })
  app.patch(`${links}/:id`, { schema }, answerWith(editLink))
  app.delete(`${links}/:id`, { schema }, answerWith(deleteLink))
  app.route({
    url: `${links}/:id/stats`,
    // The npm package sends DELETE where it means GET.
    method: ['GET', 'DELETE'],
    schema,
    // It reads a report for each period and dimension of Kutt. Each has a time limit of its own.
    config: { mayTakeLong: true },
    handler: answerWith(showStats),
  })
  app.get(`${PREFIX}/users`, { schema }, answerWith(showUser))
  app.post(`${PREFIX}/domains`, { schema }, async () => refuse(403, NO_DOMAINS))
  app.delete(`${PREFIX}/domains/:id`, { schema }, async () => refuse(403, NO_DOMAINS))
  app.get(`${PREFIX}/health`, open, async (_request, reply) => reply.type('text/html').send('OK'))
  app.all(`${PREFIX}/*`, open, async () => refuse(404, 'Not found.'))
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Marks routes of Kutt's API that are open to all. */
    needsNoKey?: true
  }
}

function refuse(status: number, message: string): never {
  throw new KuttRefusal(status, message)
}

async function showLinks({ call, home }: Client, { query }: Request) {
  const limit = Math.min(wholeNumber(query.limit) || LIMIT_DEFAULT, LIMIT_MAX)
  const skip = wholeNumber(query.skip)
  const { search } = query
  if (search !== undefined && typeof search !== 'string') refuse(400, 'search query is not valid.')
  const wanted = { ...WITH_OPTIONS, search: search || undefined }
  const span = { start: skip, limit }
  const { items, total } = await readSpan<CompatLink>(call, '/links', wanted, span)
  return { total, limit, skip, data: items.map((link) => presentLink(link, home)) }
}

/** Reads a number as Kutt does: text that has none is 0, as are numbers below. */
function wholeNumber(value: unknown): number {
  return Math.max(0, Number.parseInt(String(value), 10) || 0)
}

/** With their ports and without: the browser extension takes the one that it was given, less a `www.`. */
function serviceNamesOf(
  { host, hostname }: FastifyRequest,
  { baseUrl }: CompatDependencies,
): ReadonlySet<string> {
  const own = new URL(baseUrl)
  return new Set([own.host, own.hostname, host, hostname].map(withoutWww))
}

function withoutWww(host: string): string {
  return host.toLowerCase().replace(/^www\./, '')
}

async function createLink({ call, home, serviceNames }: Client, { body }: Request) {
  const sent = body ?? {}
  const { url, ...input } = linkInput(sent, 'customurl')
  if (url === undefined) return refuse(400, 'Target is missing.')
  const password = textOf(sent, 'password')
  const named = textOf(sent, 'domain')?.toLowerCase() ?? home
  // As in Kutt, whose default domain is the one of the service.
  const domain = serviceNames.has(withoutWww(named)) ? home : named
  const known = mayReuse(sent) ? await findPlainLink(call, domain, url) : undefined
  if (known !== undefined) return { isNew: false, link: presentLink(known, home) }
  const fields = { domain, url, ...input, password }
  const link = await call.post<LinkResource>('/links', fields)
  return {
    isNew: true,
    link: presentLink({ ...link, options: { notes: input.notes ?? null } }, home),
  }
}

async function editLink({ call, home }: Client, request: Request) {
  const sent = request.body ?? {}
  const id = idOf(request)
  const input = linkInput(sent, 'address')
  const read = () => orNotFound('Link was not found.', readLink(call, id))
  const before = await read()
  const password = newPassword(sent, before)
  const changed = { ...input, ...(password !== undefined && { password }) }
  if (!changes(changed, { ...before, notes: before.options.notes })) {
    refuse(400, 'Should at least update one field.')
  }
  await call.patch(`/links/${id}`, changed)
  return presentLink(await read(), home)
}

/** Returns what to set: null removes it; undefined leaves it, as do the dots that Kutt's own form sends. */
function newPassword(sent: Body, { password }: LinkResource): string | null | undefined {
  if (sent.password === undefined) return undefined
  const text = textOf(sent, 'password')
  if (text === undefined) return password === null ? undefined : null
  return text.replaceAll('•', '') === '' ? undefined : text
}

function changes(changed: object, before: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(changed).some(([name, value]) => {
    if (name !== 'expires_at' || before.expires_at === null) return value !== before[name]
    const expiry = Date.parse(String(before.expires_at))
    return Math.abs(Date.parse(value) - expiry) >= SAME_EXPIRY_MS
  })
}

async function deleteLink({ call }: Client, request: Request) {
  await orNotFound('Could not find the link.', call.delete(`/links/${idOf(request)}`))
  return { message: 'Link has been deleted successfully.' }
}

async function showStats({ call, home }: Client, request: Request) {
  const link = await orNotFound('Link could not be found.', readLink(call, idOf(request)))
  return { ...presentLink(link, home), ...(await statsOf(call, link.id)) }
}

function idOf({ params: { id } }: Request): string {
  return id.length === ID_LENGTH ? encodeURIComponent(id) : refuse(400, 'ID is invalid.')
}

/** Waits for a call about a link; Kutt has a text of its own for each where there is no such link. */
async function orNotFound<T>(text: string, answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof CallRefused && error.status === 404) return refuse(404, text)
    throw error
  }
}

/** A token belongs to a workspace and to no person: instead of an e-mail address it has a name. */
async function showUser({ call, home, actor }: Client, { headers }: Request) {
  const domains = await listDomains(call)
  const presented = domains.map((domain) => presentDomain(domain, home))
  return { apikey: headers['x-api-key'], email: actor.name, domains: presented }
}

type Noted = LinkResource & { readonly options: Pick<CompatLink['options'], 'notes'> }

function presentLink(link: Noted, home: string) {
  const { domain, expires_at } = link
  return {
    id: link.id,
    address: link.key,
    link: link.link,
    target: link.url,
    description: link.options.notes,
    domain: domain === home ? null : domain,
    banned: false,
    password: link.password !== null,
    expire_in: expires_at === null ? null : inMilliseconds(expires_at),
    visit_count: link.clicks ?? 0,
    created_at: inMilliseconds(link.created_at),
    updated_at: inMilliseconds(link.updated_at),
  }
}

function presentDomain(domain: DomainResource, home: string) {
  return {
    id: domain.id,
    address: domain.domain,
    homepage: domain.not_found_url ?? home,
    banned: false,
    created_at: inMilliseconds(domain.created_at),
    updated_at: inMilliseconds(domain.updated_at),
  }
}

function inMilliseconds(instant: string): string {
  return new Date(instant).toISOString()
}

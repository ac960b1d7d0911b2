import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { CallApi, Query } from '../../identity/index.ts'
import { type CompatDependencies, clientOf } from '../clients.ts'
import {
  addressOf,
  type CompatLink,
  findLink,
  findPlainLink,
  type LinkList,
  listLinks,
  readLink,
  usualDomain,
} from '../links.ts'
import { listDomains } from '../lists.ts'
import { textsOf } from '../parameters.ts'
import { refusalOf } from '../refusals.ts'
import {
  BitlyRefusal,
  presentBitlink,
  presentExpanded,
  presentGroup,
  presentUser,
  refuseField,
  type Workspace,
} from './forms.ts'
import { listClicks, listValues, parseRange, sumClicks } from './metrics.ts'

const PREFIX = '/v4'
/** Bitly's own domain, which stands for the usual one of the workspace. */
const BITLY_HOST = 'bit.ly'
const SIZE_DEFAULT = 50
const SIZE_MAX = 100
const ARCHIVED: Readonly<Record<string, string>> = { on: 'true', off: 'false', both: 'any' }

type Run = {
  readonly call: CallApi
  readonly baseUrl: string
  /** The workspace, which is the only group. */
  readonly guid: string
  readonly query: Readonly<Record<string, string>>
  readonly body: Readonly<Record<string, unknown>>
  /** What the path names, such as the id of a Bitlink. */
  readonly name: string
}

type Answer = { readonly status: number; readonly body: object }
type Route = {
  readonly method: string
  readonly path: RegExp
  readonly run: (run: Run) => Promise<Answer>
}

/** The first route that matches a path answers it. Ids of Bitlinks contain slashes. */
const ROUTES: readonly Route[] = [
  { method: 'POST', path: /^\/shorten$/, run: create },
  { method: 'POST', path: /^\/bitlinks$/, run: create },
  { method: 'POST', path: /^\/expand$/, run: expand },
  { method: 'GET', path: /^\/bitlinks\/(.+)\/clicks\/summary$/, run: metrics(sumClicks) },
  { method: 'GET', path: /^\/bitlinks\/(.+)\/clicks$/, run: metrics(listClicks) },
  {
    method: 'GET',
    path: /^\/bitlinks\/(.+)\/countries$/,
    run: metrics((found) => listValues(found, 'countries')),
  },
  {
    method: 'GET',
    path: /^\/bitlinks\/(.+)\/referrers$/,
    run: metrics((found) => listValues(found, 'referrers')),
  },
  { method: 'GET', path: /^\/bitlinks\/(.+)$/, run: show },
  { method: 'PATCH', path: /^\/bitlinks\/(.+)$/, run: update },
  { method: 'GET', path: /^\/user$/, run: showUser },
  { method: 'GET', path: /^\/groups$/, run: async (run) => ok({ groups: [await readGroup(run)] }) },
  { method: 'GET', path: /^\/groups\/[^/]+$/, run: async (run) => ok(await readGroup(run)) },
  { method: 'GET', path: /^\/groups\/[^/]+\/bitlinks$/, run: listBitlinks },
]

/** The API of Bitly, version 4. */
export const bitly: FastifyPluginAsync<CompatDependencies> = async (app, deps) => {
  app.setErrorHandler((error, request, reply) => refuse(error, request, reply))
  app.route({
    url: `${PREFIX}/*`,
    method: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    schema: { hide: true },
    handler: async (request, reply) => {
      const secret = (request.headers.authorization ?? '').replace(/^Bearer +/i, '').trim()
      const { actor, call } = await clientOf(app, deps, {
        service: 'bitly',
        secret,
        request,
        reply,
      })
      const path = pathOf(request)
      const route = ROUTES.find((each) => each.method === request.method && each.path.test(path))
      if (route === undefined) throw new BitlyRefusal(404, 'NOT_FOUND')
      const { status, body } = await route.run({
        call,
        baseUrl: deps.baseUrl,
        guid: actor.workspaceId,
        query: textsOf(request.query as object),
        body: isObject(request.body) ? request.body : {},
        name: decoded(route.path.exec(path)?.[1] ?? ''),
      })
      return reply.code(status).send(body)
    },
  })
}

/** Returns the path as it was sent: clients may encode the slashes within an id, and no others. */
function pathOf({ url }: FastifyRequest): string {
  return url.replace(/[?#].*$/s, '').slice(PREFIX.length)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function ok(body: object): Answer {
  return { status: 200, body }
}

/** Answers with the link that leads to the destination already, as Bitly does. */
async function create(run: Run): Promise<Answer> {
  const { call, body, baseUrl } = run
  const { long_url: url, domain: named, title, tags } = body
  if (typeof url !== 'string' || url === '') refuseField('long_url')
  if (named !== undefined && typeof named !== 'string') refuseField('domain')
  const isUsual = named === undefined || named === '' || named === BITLY_HOST
  const domain = isUsual ? await usualDomain(call, baseUrl) : named
  const known = await findPlainLink(call, domain, url)
  if (known !== undefined) return ok(present(run, known))
  const link = { domain, url, tags, notes: notesOf(title) }
  const { id } = await call.post<{ id: string }>('/links', link)
  return { status: 201, body: present(run, await readLink(call, id)) }
}

async function expand({ call, body, baseUrl }: Run): Promise<Answer> {
  const { bitlink_id: id } = body
  if (typeof id !== 'string' || id === '') refuseField('bitlink_id')
  return ok(presentExpanded(await getLink({ call, baseUrl, name: id })))
}

async function show(run: Run): Promise<Answer> {
  return ok(present(run, await getLink(run)))
}

async function update(run: Run): Promise<Answer> {
  const { call, body } = run
  const { id } = await getLink(run)
  const { title, archived, tags, long_url: url } = body
  const notes = notesOf(title)
  await call.patch(`/links/${id}`, { notes, archived, tags, url })
  return ok(present(run, await readLink(call, id)))
}

/** A title is a note in Terse. Values of other types are refused there. */
function notesOf(title: unknown): unknown {
  return title === '' ? null : title
}

function metrics(read: (found: Parameters<typeof listClicks>[0]) => Promise<object>) {
  return async ({ call, baseUrl, name, query }: Run) => {
    const range = parseRange(query)
    const link = await getLink({ call, baseUrl, name })
    return ok(await read({ call, link, range }))
  }
}

async function showUser({ call, guid }: Run): Promise<Answer> {
  return ok(presentUser(await call.get(`/workspaces/${guid}`), guid))
}

/** Returns the workspace as a group; requests may name any, as they did at Bitly. */
async function readGroup({ call, guid }: Run) {
  const [workspace, domains] = await Promise.all([
    call.get<Workspace>(`/workspaces/${guid}`),
    listDomains(call),
  ])
  const names = domains.map(({ domain }) => domain)
  return presentGroup(workspace, guid, names)
}

async function listBitlinks(run: Run): Promise<Answer> {
  const { call, query, baseUrl, guid } = run
  const { size = String(SIZE_DEFAULT), page, query: search, tags, archived = 'off' } = query
  const { search_after } = query
  if (!/^[1-9]\d{0,5}$/.test(size)) refuseField('size')
  if (!Object.hasOwn(ARCHIVED, archived)) refuseField('archived')
  const per_page = Math.min(Number(size), SIZE_MAX)
  const at: Query =
    page !== undefined && search_after === undefined ? { page } : { cursor: search_after ?? '' }
  const found = await listLinks(call, {
    ...at,
    per_page,
    search: search || undefined,
    tag: tags || undefined,
    archived: ARCHIVED[archived],
  })
  const next = found.meta.next_cursor ?? ''
  const address = `${baseUrl}${PREFIX}/groups/${guid}/bitlinks`
  const onward = new URLSearchParams({ ...query, search_after: next })
  const pagination = {
    prev: '',
    next: next === '' ? '' : `${address}?${onward}`,
    search_after: next,
    size: per_page,
    page: Number(page ?? 1),
    total: found.meta.total,
  }
  return ok({ links: found.data.map((link) => present(run, link)), pagination })
}

function present({ baseUrl, guid }: Pick<Run, 'baseUrl' | 'guid'>, link: CompatLink) {
  return presentBitlink(link, `${baseUrl}${PREFIX}/groups/${guid}`)
}

/**
 * Returns the link with an id, which is its address with or without a scheme. Clients name `bit.ly` for every domain, so
 * a key that the usual domain does not have is looked for on all.
 *
 * @throws {BitlyRefusal}
 */
async function getLink({
  call,
  baseUrl,
  name,
}: Pick<Run, 'call' | 'baseUrl' | 'name'>): Promise<CompatLink> {
  const address = addressOf(/^https?:\/\//i.test(name) ? name : `https://${name}`)
  if (address === undefined) throw new BitlyRefusal(404, 'NOT_FOUND')
  const { domain, key } = address
  if (domain !== BITLY_HOST) return required(await findLink(call, address))
  const usual = { domain: await usualDomain(call, baseUrl), key }
  return required((await findLink(call, usual)) ?? (await findOnly(call, key)))
}

function required(link: CompatLink | undefined): CompatLink {
  if (link === undefined) throw new BitlyRefusal(404, 'NOT_FOUND')
  return link
}

async function findOnly(call: CallApi, key: string): Promise<CompatLink | undefined> {
  const { data }: LinkList = await listLinks(call, { key, per_page: 2 })
  return data.length === 1 ? data[0] : undefined
}

/** What Bitly calls the fields of a link. */
const FIELD_NAMES: Readonly<Record<string, string>> = { url: 'long_url', notes: 'title' }

const MESSAGES: Readonly<Record<number, string>> = {
  400: 'BAD_REQUEST',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  422: 'UNPROCESSABLE_ENTITY',
  429: 'RATE_LIMIT_EXCEEDED',
  500: 'INTERNAL_ERROR',
  503: 'TEMPORARILY_UNAVAILABLE',
}

function refuse(error: unknown, request: FastifyRequest, reply: FastifyReply) {
  const [, first = ''] = pathOf(request).split('/')
  const resource = first === 'shorten' || first === 'expand' ? 'bitlinks' : first
  const send = (status: number, message: string, description: string, field?: string) => {
    const errors = field === undefined ? {} : { errors: [{ field, error_code: 'invalid' }] }
    return reply.code(status).send({ message, description, resource, ...errors })
  }
  if (error instanceof BitlyRefusal) {
    const { status, message, field } = error
    const description =
      field === undefined
        ? 'What you are looking for cannot be found.'
        : 'The value provided is invalid.'
    return send(status, message, description, field)
  }
  const { status, message, faults, headers } = refusalOf(error, request)
  reply.headers(headers)
  const [field] = Object.keys(faults).map((name) => FIELD_NAMES[name] ?? name)
  if (field !== undefined) return send(400, `INVALID_ARG_${field.toUpperCase()}`, message, field)
  // Bitly answers 403 to a token that it does not know.
  const answered = status === 401 ? 403 : status
  return send(answered, MESSAGES[answered] ?? 'BAD_REQUEST', message)
}

import { randomBytes } from 'node:crypto'
import type { ClickReportResource } from '@terse/contract/clicks'
import type { LinkResource } from '@terse/contract/links'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { CallRefused } from '../../identity/index.ts'
import { type CompatClient, type CompatDependencies, clientOf } from '../clients.ts'
import { type CompatLink, findLink, findPlainLink, usualDomain } from '../links.ts'
import { type Parameters, parametersOf, takeForms } from '../parameters.ts'
import { firstError, hasFault, refusalOf } from '../refusals.ts'

const PREFIX = '/api/v2'
/** Each link is a request to our API. */
const BULK_LINKS_MAX = 100
const GROUPS_MAX = 1_000
const PERIOD_DAYS = 30
const ENDING_BYTES = 4
const SECRET_BYTES = 8

const MISSING = 'Invalid or missing parameters.'
/** A date, or a date and a time, as the documentation of Polr has them: in UTC, unless there is a zone. */
const DATE = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?) ?(Z|[+-]\d\d:\d\d)?)?$/i

type Client = Pick<CompatClient, 'call'> & { readonly domain: string }

type Result = {
  readonly action: string
  readonly result: unknown
  /** The body of an answer that is no JSON. */
  readonly text: string
}

type NewLink = { readonly url: string; readonly ending: string; readonly isSecret: boolean }

/** A refusal in the words and with the codes of Polr. */
class PolrRefusal extends Error {
  override readonly name = 'PolrRefusal'
  readonly status: number
  readonly code: string

  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

/** The API of Polr 2.3: parameters come in the query, in a form or as JSON. */
export const polr: FastifyPluginAsync<CompatDependencies> = async (app, deps) => {
  takeForms(app)
  app.setErrorHandler(sendRefusal)

  type Operation = (client: Client, parameters: Parameters) => Promise<Result>
  const answerWith =
    (operation: Operation) => async (request: FastifyRequest, reply: FastifyReply) => {
      const parameters = parametersOf(request)
      const { key: secret = '' } = parameters
      if (secret === '') throw new PolrRefusal(401, 'AUTH_ERROR', 'Authentication token required.')
      const { call } = await clientOf(app, deps, { service: 'polr', secret, request, reply })
      const domain = await usualDomain(call, deps.baseUrl)
      const { action, result, text } = await operation({ call, domain }, parameters)
      return wantsJson(request) ? { action, result } : reply.type('text/plain').send(text)
    }

  const schema = { hide: true }
  const method = ['GET', 'POST']
  const shortenAction = { url: `${PREFIX}/action/shorten`, handler: answerWith(shorten) }
  const lookupAction = { url: `${PREFIX}/action/lookup`, handler: answerWith(lookUp) }
  const statsOfLink = { url: `${PREFIX}/data/link`, handler: answerWith(showStats) }
  app.route({ method, schema, ...shortenAction })
  app.route({ method, schema, ...lookupAction })
  app.route({ method, schema, ...statsOfLink })
  app.post(BULK_PATH, { schema, config: { mayTakeLong: true } }, answerWith(shortenAll))
}

const BULK_PATH = `${PREFIX}/action/shorten_bulk`
/** Their answers are JSON where a request does not say. */
const JSON_PATHS: ReadonlySet<string | undefined> = new Set([BULK_PATH, `${PREFIX}/data/link`])

function wantsJson(request: FastifyRequest): boolean {
  const { response_type: type } = parametersOf(request)
  if (type === undefined || type === '') return JSON_PATHS.has(request.routeOptions.url)
  return type === 'json'
}

async function shorten(client: Client, parameters: Parameters): Promise<Result> {
  const { url = '', custom_ending: ending = '', is_secret } = parameters
  const link = await createLink(client, { url, ending, isSecret: is_secret === 'true' })
  return { action: 'shorten', result: link, text: link }
}

async function shortenAll(client: Client, { data = '', ...rest }: Parameters): Promise<Result> {
  requireJson(rest, 'Only JSON-encoded responses are available for this endpoint.')
  const links = linksIn(data)
  const shortened = []
  for (const link of links) {
    shortened.push({ long_url: link.url, short_url: await createLink(client, link) })
  }
  return { action: 'shorten_bulk', result: { shortened_links: shortened }, text: '' }
}

/** @throws {PolrRefusal} */
function linksIn(data: string): readonly NewLink[] {
  const links = parseJson(data)?.links
  if (!Array.isArray(links)) throw new PolrRefusal(400, 'INVALID_PARAMETERS', 'Invalid JSON.')
  if (links.length > BULK_LINKS_MAX) {
    const text = `At most ${BULK_LINKS_MAX} links may be sent at once.`
    throw new PolrRefusal(400, 'INVALID_PARAMETERS', text)
  }
  return links.map((link) => {
    const { url, custom_ending: ending, is_secret } = Object(link)
    if (typeof url !== 'string' || url === '') throw missing()
    return { url, ending: String(ending ?? ''), isSecret: String(is_secret) === 'true' }
  })
}

function parseJson(text: string): { readonly links?: unknown } | null {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Returns the address of a new link, or of a plain one that leads there already. */
async function createLink(client: Client, { url, ending, isSecret }: NewLink): Promise<string> {
  const { call, domain } = client
  if (url === '') throw missing()
  try {
    if (ending === '' && !isSecret) {
      const known = await findPlainLink(call, domain, url, ({ key }) => !key.includes('/'))
      if (known !== undefined) return known.link
    }
    const fields = { domain, url, ...keyOf(ending, isSecret) }
    return (await call.post<LinkResource>('/links', fields)).link
  } catch (error) {
    throw error instanceof CallRefused ? (creationRefusal(error) ?? error) : error
  }
}

/** The secret of a secret link is the last part of its key, as imports have it. */
function keyOf(ending: string, isSecret: boolean): { readonly key?: string } {
  if (!isSecret) return ending === '' ? {} : { key: ending }
  const first = ending === '' ? randomBytes(ENDING_BYTES).toString('hex') : ending
  return { key: `${first}/${randomBytes(SECRET_BYTES).toString('hex')}` }
}

function creationRefusal({ refusal }: CallRefused): PolrRefusal | undefined {
  const refuse = (text: string) => new PolrRefusal(400, 'CREATION_ERROR', text)
  if (hasFault(refusal, 'url', 'loop')) {
    return refuse('Sorry, but your link already looks like a shortened URL.')
  }
  if (refusal.faults?.url !== undefined) return missing()
  if (hasFault(refusal, 'key', 'taken', 'reserved')) {
    return refuse('This URL ending is already in use.')
  }
  const found = firstError(refusal)
  return found === undefined ? undefined : refuse(found.replace(/^key /, 'custom_ending '))
}

async function lookUp(client: Client, parameters: Parameters): Promise<Result> {
  const { long_url, created_at, updated_at, clicks } = presentLink(await find(client, parameters))
  const result = { long_url, created_at, clicks, updated_at }
  return { action: 'lookup', result, text: long_url }
}

/** @throws {PolrRefusal} where there is none, or only one with another secret */
async function find(
  { call, domain }: Client,
  { url_ending: ending = '', url_key: secret = '' }: Parameters,
): Promise<CompatLink> {
  if (ending === '') throw missing()
  const found =
    (await findLink(call, { domain, key: ending })) ??
    (secret === '' ? undefined : await findLink(call, { domain, key: `${ending}/${secret}` }))
  if (found === undefined) throw new PolrRefusal(404, 'NOT_FOUND', 'Link not found.')
  return found
}

function presentLink({ url, clicks, created_at, updated_at }: CompatLink) {
  return {
    long_url: url,
    created_at: presentDate(created_at),
    clicks: String(clicks ?? 0),
    updated_at: presentDate(updated_at),
  }
}

/** As PHP encodes a date: `2026-01-02 03:04:05.000000`, with its zone. */
function presentDate(instant: string) {
  return { date: instant.replace('T', ' ').replace('Z', ''), timezone_type: 3, timezone: 'UTC' }
}

async function showStats(client: Client, parameters: Parameters): Promise<Result> {
  requireJson(parameters, 'Only JSON-encoded data is available for this endpoint.')
  const { url_ending, stats_type: type = '' } = parameters
  const right = instantIn(parameters.right_bound) ?? Temporal.Now.instant()
  const left = instantIn(parameters.left_bound) ?? right.subtract({ hours: 24 * PERIOD_DAYS })
  const { id } = await find(client, parameters)
  const stats = Object.hasOwn(STATS, type) ? STATS[type] : undefined
  if (stats === undefined) {
    const text = 'Invalid analytics type requested.'
    throw new PolrRefusal(400, 'INVALID_ANALYTICS_TYPE', text)
  }
  // The right bound is part of the period.
  const period = { from: left.toString(), to: right.add({ milliseconds: 1 }).toString() }
  try {
    const query = { ...period, ...stats.query }
    const report = await client.call.get<ClickReportResource>(`/links/${id}/clicks`, query)
    const result = { url_ending, data: stats.present(report) }
    return { action: `data_link_${type}`, result, text: '' }
  } catch (error) {
    if (!(error instanceof CallRefused) || error.status !== 422) throw error
    throw new PolrRefusal(400, 'ANALYTICS_ERROR', 'Invalid bounds.')
  }
}

type Stats = {
  readonly query: Readonly<Record<string, string | number>>
  readonly present: (report: ClickReportResource) => readonly object[]
}

const STATS: Readonly<Record<string, Stats>> = {
  day: {
    query: { interval: 'day' },
    present: (report) =>
      report.group_by === null
        ? report.data
            .filter(({ clicks }) => clicks !== 0)
            .map(({ start, clicks }) => ({ x: start.slice(0, 10), y: clicks }))
        : [],
  },
  country: {
    query: { group_by: 'country', limit: GROUPS_MAX },
    present: (report) => labelled(report).filter(({ label }) => label !== null),
  },
  referer: {
    query: { group_by: 'referrer', limit: GROUPS_MAX },
    present: (report) =>
      labelled(report).map(({ label, clicks }) => ({ label: label ?? 'Direct', clicks })),
  },
}

function labelled(report: ClickReportResource) {
  if (report.group_by === null) return []
  return report.data.map(({ value, clicks }) => ({ label: value, clicks }))
}

/** @throws {PolrRefusal} for what is no date */
function instantIn(text = ''): Temporal.Instant | undefined {
  if (text === '') return undefined
  const [, date, time = '00:00', zone = 'Z'] = DATE.exec(text) ?? []
  try {
    return Temporal.Instant.from(`${date}T${time}${zone}`)
  } catch {
    throw missing()
  }
}

function requireJson({ response_type: type = '' }: Parameters, text: string): void {
  if (type !== '' && type !== 'json') throw new PolrRefusal(401, 'JSON_ONLY', text)
}

function missing(): PolrRefusal {
  return new PolrRefusal(400, 'MISSING_PARAMETERS', MISSING)
}

/** Polr's codes and texts for what the request is refused for before its operation, by the status. */
const REFUSALS: Readonly<Record<number, readonly [code: string, text?: string]>> = {
  401: ['AUTH_ERROR', 'Authentication token invalid.'],
  403: ['ACCESS_DENIED'],
  404: ['NOT_FOUND', 'Link not found.'],
  429: ['QUOTA_EXCEEDED', 'Quota exceeded.'],
}

function sendRefusal(error: unknown, request: FastifyRequest, reply: FastifyReply) {
  const { status, code, message } = polrRefusalOf(error, request, reply)
  return wantsJson(request)
    ? reply.code(status).send({ status_code: status, error_code: code, error: message })
    : reply.code(status).type('text/plain').send(`${status} ${message}`)
}

function polrRefusalOf(error: unknown, request: FastifyRequest, reply: FastifyReply): PolrRefusal {
  if (error instanceof PolrRefusal) return error
  const { status, message, headers } = refusalOf(error, request)
  reply.headers(headers)
  const [code, text = message] = REFUSALS[status] ?? [
    status < 500 ? 'INVALID_PARAMETERS' : 'SERVER_ERROR',
  ]
  return new PolrRefusal(status, code, text)
}

import { createHash, timingSafeEqual } from 'node:crypto'
import type { LinkResource } from '@terse/contract/links'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { CallRefused, type Query } from '../../identity/index.ts'
import { Failure } from '../../platform/failure.ts'
import { ALL_TIME_DAYS, daysAgo } from '../clicks.ts'
import { type CompatClient, type CompatDependencies, clientOf } from '../clients.ts'
import {
  addressOf,
  type CompatLink,
  findLink,
  findPlainLink,
  listLinks,
  usualDomain,
  WITH_OPTIONS,
} from '../links.ts'
import { readSpan } from '../lists.ts'
import { type Parameters, parametersOf, takeForms } from '../parameters.ts'
import { firstError, hasFault, refusalOf } from '../refusals.ts'
import { type Answer, type Fields, sendAnswer } from './answers.ts'

/** The release of YOURLS whose answers are given. */
const VERSION = '1.10.4'
const DB_VERSION = '507'

/** How much the time of a signature may differ from that of this server. */
const SIGNATURE_SECONDS_MAX = 43_200
const TIMESTAMP = /^\d{1,12}$/
/** By the length of a signature in hexadecimal, for clients that do not name their algorithm. */
const HASH_OF_LENGTH: Readonly<Record<number, string>> = { 32: 'md5', 64: 'sha256' }
const HASHES: ReadonlySet<string> = new Set(['md5', 'sha1', 'sha256', 'sha384', 'sha512'])

/** Links in one answer to `stats`. */
const STATS_LINKS_MAX = 1_000
const SORTS: Readonly<Record<string, string>> = { bottom: 'clicks', last: '-created_at' }

/** The page that begins at this position has a number that the API accepts. */
const INTEGER_MAX = Number.MAX_SAFE_INTEGER - 1
const TITLE_LENGTH_MAX = 4_000
const MESSAGE_URL_LENGTH_MAX = 60
const CUT = '[...]'

type ClickTotals = {
  readonly total: { readonly clicks: number }
  readonly opening: number | null
}

type Run = { readonly parameters: Parameters; readonly baseUrl: string } & Pick<
  CompatClient,
  'call'
>

const ACTIONS: Readonly<Record<string, (run: Run) => Promise<Answer>>> = {
  shorturl: shorten,
  expand,
  'url-stats': showLink,
  stats: listStats,
  'db-stats': showTotals,
  version: showVersion,
}

/** The API of YOURLS: one path, whose parameters come in the query or in a form. */
export const yourls: FastifyPluginAsync<CompatDependencies> = async (app, deps) => {
  app.removeAllContentTypeParsers()
  takeForms(app)
  app.setErrorHandler((error, request, reply) => refuse(error, request, reply))
  app.route({
    url: '/yourls-api.php',
    method: ['GET', 'POST'],
    schema: { hide: true },
    handler: async (request, reply) => {
      const parameters = parametersOf(request)
      const secret = await secretOf(parameters, { request, reply, deps })
      const client = await clientOf(app, deps, { service: 'yourls', secret, request, reply })
      const { action = '' } = parameters
      const run = Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined
      const answer = await (run ?? refuseAction)({
        parameters,
        baseUrl: deps.baseUrl,
        call: client.call,
      })
      const callback = parameters.callback ?? parameters.jsonp
      return sendAnswer(reply, parameters, { ...answer, fields: { ...answer.fields, callback } })
    },
  })
}

/**
 * Returns the secret that the request is sent with, in whichever of the ways of YOURLS. A timed signature is looked for
 * among the secrets of tokens, so requests with one count against the limit of their address too.
 *
 * @throws {Failure} `unauthorized`; as `limitRequests`
 */
async function secretOf(
  parameters: Parameters,
  {
    request,
    reply,
    deps,
  }: { request: FastifyRequest; reply: FastifyReply; deps: CompatDependencies },
): Promise<string> {
  const { timestamp, signature, username, password } = parameters
  if (isGiven(timestamp) && isGiven(signature)) {
    const fits = timedSignature(parameters, timestamp, signature)
    if (fits === undefined) throw Failure.unauthorized({ code: 'invalid_token' })
    await deps.limitRequests(request, reply)
    const secret = await deps.compat.findYourlsSecret(fits)
    if (secret !== undefined) return secret
  } else if (timestamp === undefined && isGiven(signature)) {
    return signature
  } else if (isGiven(username) && isGiven(password)) {
    return password
  }
  throw Failure.unauthorized({ code: 'invalid_token' })
}

/** Whether PHP takes the text for true. */
function isGiven(text: string | undefined): text is string {
  return text !== undefined && text !== '' && text !== '0'
}

/** Returns a test for the secret of a signature; undefined for a signature that no secret has now. */
function timedSignature(
  { hash }: Parameters,
  timestamp: string,
  signature: string,
): ((secret: string) => boolean) | undefined {
  const algorithm = hash ?? HASH_OF_LENGTH[signature.length]
  const sent = Buffer.from(signature, 'hex')
  const isRecent =
    TIMESTAMP.test(timestamp) &&
    Math.abs(Date.now() / 1000 - Number(timestamp)) < SIGNATURE_SECONDS_MAX
  if (algorithm === undefined || !HASHES.has(algorithm) || !isRecent) return undefined
  return (secret) =>
    [timestamp + secret, secret + timestamp].some((text) => {
      const expected = createHash(algorithm).update(text).digest()
      return expected.length === sent.length && timingSafeEqual(expected, sent)
    })
}

async function shorten({ parameters, call, baseUrl }: Run): Promise<Answer> {
  const { url = '', keyword = '', title = '' } = parameters
  if (url === '') return refuseLink('nourl', 'Missing or malformed URL')
  const domain = await usualDomain(call, baseUrl)
  try {
    const address = addressOf(url)
    if (address?.domain === domain && (await findLink(call, address)) !== undefined) {
      return refuseLink('noloop', 'URL is a short URL')
    }
    const known = await findPlainLink(call, domain, url)
    if (known !== undefined) return refuseKnown(known)
    const notes = notesOf(title, url)
    const key = isGiven(keyword) ? keyword : undefined
    const link = await call.post<LinkResource>('/links', { domain, url, key, notes })
    return added(link, notes ?? link.url)
  } catch (error) {
    if (error instanceof CallRefused && error.status === 422) return refuseInput(error, keyword)
    throw error
  }
}

/** YOURLS has no field for what our notes are, and fetches a title where none is sent. */
function notesOf(title: string, url: string): string | null {
  const text = title.replaceAll(/\s+/g, ' ').trim().slice(0, TITLE_LENGTH_MAX)
  return text === '' || text === url ? null : text
}

function added({ key, url, link, created_at }: LinkResource, title: string): Answer {
  return {
    simple: link,
    fields: {
      status: 'success',
      code: '',
      message: `${cut(url)} added to database`,
      errorCode: '',
      statusCode: '200',
      url: { keyword: key, url, title, date: dateOf(created_at), ip: '' },
      title,
      shorturl: link,
    },
  }
}

/** The answer to a URL that has a short one, which clients read in spite of the status. */
function refuseKnown(found: CompatLink): Answer {
  const { key, url, link, created_at, clicks } = found
  const title = titleOf(found)
  const date = dateOf(created_at)
  const shown = link.replace(/^https?:\/\//, '')
  const message = `${cut(url)} already exists in database (short URL: ${shown})`
  const { fields, status } = refuseLink('url', message)
  const more = {
    url: { keyword: key, url, title, date, ip: '', clicks: clicks ?? 0 },
    title,
    shorturl: link,
  }
  return { simple: link, status: status ?? 400, fields: { ...fields, ...more } }
}

function refuseInput({ refusal, message }: CallRefused, keyword: string): Answer {
  const { errors = {}, faults = {} } = refusal
  if (hasFault(refusal, 'url', 'loop')) return refuseLink('noloop', 'URL is a short URL')
  if (faults.url !== undefined) return refuseLink('nourl', 'Missing or malformed URL')
  if (faults.key === undefined) return refuseLink('db', firstError(refusal) ?? message)
  const isHeld = hasFault(refusal, 'key', 'taken', 'reserved')
  const why = isHeld ? 'already exists in database or is reserved' : errors.key?.[0]
  return refuseLink('keyword', `Short URL ${keyword} ${why}`)
}

function refuseLink(code: string, message: string): Answer {
  const fields = { status: 'fail', code: `error:${code}`, message }
  return { simple: '', status: 400, fields: { ...fields, errorCode: '400', statusCode: '400' } }
}

async function expand(run: Run): Promise<Answer> {
  const { keyword, link } = await findNamed(run)
  if (link === undefined) {
    const message = 'Error: short URL not found'
    return { simple: 'not found', status: 404, fields: { keyword, message, errorCode: '404' } }
  }
  const { link: shorturl, url: longurl } = link
  const fields = { keyword, shorturl, longurl, title: titleOf(link) }
  return { simple: longurl, fields: { ...fields, message: 'success', statusCode: '200' } }
}

const NOT_SIMPLE = 'Need either XML or JSON format for stats'

async function showLink(run: Run): Promise<Answer> {
  const { link } = await findNamed(run)
  if (link === undefined) {
    const fields = { statusCode: '404', message: 'Error: short URL not found' }
    return { simple: NOT_SIMPLE, status: 404, fields }
  }
  const fields = { statusCode: '200', message: 'success', link: statsOf(link) }
  return { simple: NOT_SIMPLE, fields }
}

async function listStats({ parameters, call }: Run): Promise<Answer> {
  const { filter = '' } = parameters
  const limit = Math.min(integerOf(parameters.limit), STATS_LINKS_MAX)
  const totals = await readTotals(call)
  const isRandom = filter === 'rand' || filter === 'random'
  const start = isRandom
    ? Math.floor(Math.random() * Math.max(totals.total_links - limit + 1, 1))
    : integerOf(parameters.start)
  const sort = isRandom ? '-created_at' : (SORTS[filter] ?? '-clicks')
  const query = { ...WITH_OPTIONS, sort, archived: 'any' }
  const span = { start, limit }
  const { items } =
    limit === 0 ? { items: [] } : await readSpan<CompatLink>(call, '/links', query, span)
  const links = items.map((link, index) => [`link_${index + 1}`, statsOf(link)])
  const fields = {
    links: links.length === 0 ? undefined : Object.fromEntries(links),
    stats: totals,
    statusCode: '200',
    message: 'success',
  }
  return { simple: NOT_SIMPLE, fields }
}

async function showTotals({ call }: Run): Promise<Answer> {
  const totals = await readTotals(call)
  const fields = { 'db-stats': totals, statusCode: '200', message: 'success' }
  return { simple: NOT_SIMPLE, fields }
}

/** Counts the links, and the clicks of two decades: a report has ten years at most. */
async function readTotals(call: Run['call']) {
  const from = daysAgo(2 * ALL_TIME_DAYS)
  const middle = daysAgo(ALL_TIME_DAYS)
  const count = (period: Query) =>
    call.get<ClickTotals>('/clicks', { ...period, group_by: 'source', limit: 1 })
  const [{ meta }, recent, older] = await Promise.all([
    listLinks(call, { archived: 'any', per_page: 1 }),
    count({ from: middle }),
    count({ from, to: middle }),
  ])
  const clicks = recent.total.clicks + older.total.clicks + (recent.opening ?? 0)
  return { total_links: meta.total, total_clicks: clicks }
}

async function showVersion({ parameters }: Run): Promise<Answer> {
  const db = parameters.db === '1' ? { db_version: DB_VERSION } : {}
  return { simple: VERSION, fields: { version: VERSION, ...db } }
}

async function refuseAction(): Promise<Answer> {
  const message = 'Unknown or missing "action" parameter'
  return { simple: message, status: 400, fields: { errorCode: '400', message } }
}

/** Finds the link of a keyword on the usual domain, or of a whole address on any. */
async function findNamed({ parameters, call, baseUrl }: Run) {
  const { shorturl = '' } = parameters
  const address = addressOf(shorturl) ?? {
    domain: await usualDomain(call, baseUrl),
    key: shorturl,
  }
  return { keyword: address.key, link: await findLink(call, address) }
}

function statsOf(found: CompatLink): Fields {
  const { link: shorturl, url, created_at, clicks } = found
  const timestamp = dateOf(created_at)
  return { shorturl, url, title: titleOf(found), timestamp, ip: '', clicks: clicks ?? 0 }
}

function titleOf({ options, url }: CompatLink): string {
  return options.notes ?? url
}

/** In UTC, without a zone. */
function dateOf(instant: string): string {
  return instant.slice(0, 19).replace('T', ' ')
}

function cut(url: string): string {
  const characters = [...url]
  return characters.length <= MESSAGE_URL_LENGTH_MAX
    ? url
    : characters.slice(0, MESSAGE_URL_LENGTH_MAX - CUT.length).join('') + CUT
}

/** The integer at the beginning of a text, as PHP reads it; 0 for none, and for a negative one. */
function integerOf(text = ''): number {
  return Math.min(Math.max(Number.parseInt(text, 10) || 0, 0), INTEGER_MAX)
}

function refuse(error: unknown, request: FastifyRequest, reply: FastifyReply) {
  const parameters = parametersOf(request)
  const { status, message, headers } = refusalOf(error, request)
  const isUnknown = status === 401
  const text = isUnknown ? loginMessage(parameters) : message
  const code = isUnknown ? 403 : status
  const { callback = '' } = parameters
  const fields = { message: text, errorCode: String(code), callback }
  reply.headers(headers)
  return sendAnswer(reply, parameters, { simple: text, status: code, fields })
}

function loginMessage({ username, password }: Parameters): string {
  return username === undefined && password === undefined
    ? 'Please log in'
    : 'Invalid username or password'
}

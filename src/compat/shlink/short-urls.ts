import { isDeepStrictEqual } from 'node:util'
import type { IncludingLink } from '@terse/contract/links'
import type { LinkRulesResource, RuleInput } from '@terse/contract/rules'
import { z } from 'zod'
import { CallRefused, type Query } from '../../identity/index.ts'
import { convertRules, microsOf, type RedirectRule, redirectRuleOf } from '../../imports/index.ts'
import { generateKey } from '../../links/index.ts'
import { systemRandom } from '../../platform/crypto/random.ts'
import { formatInstant } from '../../platform/time/clock.ts'
import { ALL_TIME_DAYS, daysAgo } from '../clicks.ts'
import { findLink as findLinkAt, readLink, WITH_OPTIONS } from '../links.ts'
import { readSpan } from '../lists.ts'
import { hasFault } from '../refusals.ts'
import { invalidData, nonUniqueSlug, shortUrlNotFound } from './problems.ts'
import {
  countInput,
  dateInput,
  flagInput,
  listOf,
  type PageRequest,
  parseBody,
  type ShlinkCall,
  type ShlinkQuery,
  shlinkDate,
  spanOf,
} from './requests.ts'

const ITEMS_PER_PAGE = 10
const ITEMS_PER_PAGE_MAX = 1_000
/** Links that are read to select or sort them by what our API has no parameter for. */
const SELECTED_MAX = 2_000
/** As many tags as one list of our API is selected by. */
const SELECTED_TAGS_MAX = 10
const SECOND_MICROS = 1_000_000

const ORDERS = new Map([
  ['dateCreated', 'created_at'],
  ['shortCode', 'key'],
  ['visits', 'clicks'],
  ['nonBotVisits', 'clicks'],
])
const TEXT_ORDERS = new Map<string, (link: IncludingLink) => string>([
  ['longUrl', ({ url }) => url],
  ['title', ({ options }) => options?.notes ?? ''],
])

/** Finds the link of a short code. @throws {ShlinkProblem} */
export async function findLink(
  { call, defaultHost }: ShlinkCall,
  shortCode: string,
  domain: string | undefined,
): Promise<IncludingLink> {
  const address = { domain: domain ?? defaultHost, key: shortCode }
  const link = await findLinkAt(call, address).catch((error: unknown) => {
    // A text that is no host name or no key.
    if (error instanceof CallRefused && error.status === 422) return undefined
    throw error
  })
  if (link === undefined) throw shortUrlNotFound(shortCode, domain)
  return link
}

/** Returns links as Shlink has them. */
async function shortUrlsOf(shlink: ShlinkCall, links: readonly IncludingLink[]) {
  const bots = await botClicks(shlink, links)
  return links.map((link) => {
    const { options, rule_count = 0, clicks } = link
    const nonBots = clicks ?? 0
    const ofBots = bots.get(link.id) ?? 0
    return {
      shortUrl: link.link,
      shortCode: link.key,
      longUrl: link.url,
      dateCreated: shlinkDate(link.created_at),
      tags: link.tags,
      meta: {
        validSince: options?.active_from ? shlinkDate(options.active_from) : null,
        validUntil: link.expires_at ? shlinkDate(link.expires_at) : null,
        maxVisits: options?.max_clicks ?? null,
      },
      domain: link.domain === shlink.defaultHost ? null : link.domain,
      title: options?.notes ?? null,
      crawlable: false,
      forwardQuery: options?.query !== 'drop',
      visitsSummary: { total: nonBots + ofBots, nonBots, bots: ofBots },
      hasRedirectRules: rule_count > 0 || link.ios !== null || link.android !== null,
    }
  })
}

export async function shortUrlOf(shlink: ShlinkCall, link: IncludingLink) {
  const [shortUrl] = await shortUrlsOf(shlink, [link])
  return shortUrl
}

const REPORTED_LINKS_MAX = 10

/** Links have their clicks by people alone. */
async function botClicks({ call }: ShlinkCall, links: readonly IncludingLink[]) {
  const bots = new Map<string, number>()
  for (let start = 0; start < links.length; start += REPORTED_LINKS_MAX) {
    const part = links.slice(start, start + REPORTED_LINKS_MAX).map(({ id }) => id)
    const { data } = await call.get<{ data: { link?: { id: string } | null; bots?: number }[] }>(
      '/clicks',
      {
        ...{ link: part, group_by: 'link', bots: 'only', limit: REPORTED_LINKS_MAX },
        from: daysAgo(ALL_TIME_DAYS),
      },
    )
    for (const { link, bots: count } of data) if (link) bots.set(link.id, count ?? 0)
  }
  return bots
}

export async function listShortUrls(shlink: ShlinkCall, query: ShlinkQuery) {
  const request = query.page(ITEMS_PER_PAGE, ITEMS_PER_PAGE_MAX)
  if (query.text('apiKeyName') !== undefined) {
    throw invalidData(['apiKeyName'], 'Links do not have the API key that made them.')
  }
  const { field, isAscending } = orderOf(query)
  const sort = ORDERS.get(field) ?? 'created_at'
  const filters = {
    ...filtersOf(shlink, query),
    sort: isAscending ? sort : `-${sort}`,
    ...WITH_OPTIONS,
  }
  const { items, total } =
    selectionOf(query).length === 0
      ? await readSpan<IncludingLink>(shlink.call, '/links', filters, spanOf(request))
      : pageOf(await selectLinks(shlink, query, filters), request)
  return { shortUrls: listOf(await shortUrlsOf(shlink, items), total, request) }
}

/** @throws {ShlinkProblem} */
function orderOf(query: ShlinkQuery) {
  const [field = '', direction = 'ASC'] = (query.text('orderBy') ?? 'dateCreated-DESC').split('-')
  if (ORDERS.has(field) || TEXT_ORDERS.has(field)) {
    return { field, isAscending: direction.toUpperCase() !== 'DESC' }
  }
  throw invalidData(['orderBy'])
}

function filtersOf({ defaultHost }: ShlinkCall, query: ShlinkQuery): Query {
  const tags = query.list('tags')
  const after = query.micros('startDate')
  const before = query.micros('endDate')
  const domain = query.text('domain')
  return {
    search: query.text('searchTerm'),
    tag: isAnyTag(query) ? undefined : tags,
    domain: domain === 'DEFAULT' ? defaultHost : domain,
    created_after: after === undefined ? undefined : formatInstant(after),
    // Shlink's dates are whole seconds, and its last one is included.
    created_before: before === undefined ? undefined : formatInstant(before + SECOND_MICROS),
    state: query.isTrue('excludePastValidUntil') ? 'active' : undefined,
  }
}

function isAnyTag(query: ShlinkQuery): boolean {
  return query.list('tags').length > 1 && query.text('tagsMode') !== 'all'
}

/** Returns the parameters of the query that our API has no equivalent of. */
function selectionOf(query: ShlinkQuery): readonly string[] {
  return [
    ...(isAnyTag(query) ? ['tags'] : []),
    ...(query.list('excludeTags').length > 0 ? ['excludeTags'] : []),
    ...(query.isTrue('excludeMaxVisitsReached') ? ['excludeMaxVisitsReached'] : []),
    ...(TEXT_ORDERS.has(orderOf(query).field) ? ['orderBy'] : []),
  ]
}

/** @throws {ShlinkProblem} where there are too many tags, or too many links to select from */
async function selectLinks(
  { call }: ShlinkCall,
  query: ShlinkQuery,
  filters: Query,
): Promise<readonly IncludingLink[]> {
  const tags = query.list('tags')
  if (tags.length > SELECTED_TAGS_MAX) {
    throw invalidData(['tags'], `Links are selected by at most ${SELECTED_TAGS_MAX} tags.`)
  }
  const found = new Map<string, IncludingLink>()
  const lists = isAnyTag(query) ? tags.map((tag) => ({ ...filters, tag })) : [filters]
  const all = { start: 0, limit: SELECTED_MAX }
  for (const list of lists) {
    const { items, total } = await readSpan<IncludingLink>(call, '/links', list, all)
    if (total > SELECTED_MAX) {
      const reason = `Among more than ${SELECTED_MAX} links, select by other parameters too.`
      throw invalidData(selectionOf(query), reason)
    }
    for (const link of items) found.set(link.id, link)
  }
  const excluded = query.list('excludeTags')
  const isExcluded = (link: IncludingLink) =>
    query.text('excludeTagsMode') === 'all'
      ? excluded.every((tag) => link.tags.includes(tag))
      : excluded.some((tag) => link.tags.includes(tag))
  const isReached = ({ options }: IncludingLink) => options?.clicks_left === 0
  const links = [...found.values()].filter(
    (link) =>
      !(excluded.length > 0 && isExcluded(link)) &&
      !(query.isTrue('excludeMaxVisitsReached') && isReached(link)),
  )
  return sorted(links, query)
}

function sorted(links: readonly IncludingLink[], query: ShlinkQuery): readonly IncludingLink[] {
  const { field, isAscending } = orderOf(query)
  const sort = ORDERS.get(field)
  const read =
    TEXT_ORDERS.get(field) ?? ((link: IncludingLink) => link[sort as 'created_at' | 'clicks'] ?? 0)
  const direction = isAscending ? 1 : -1
  return links.toSorted((a, b) => {
    const [one, other] = [read(a), read(b)]
    return one === other ? 0 : one < other ? -direction : direction
  })
}

function pageOf<T>(items: readonly T[], request: PageRequest) {
  const { start, limit } = spanOf(request)
  return { items: items.slice(start, start + limit), total: items.length }
}

const tagsInput = z.array(z.string())

const changes = {
  title: z.string().nullish(),
  tags: tagsInput.nullish(),
  validSince: dateInput.nullish(),
  validUntil: dateInput.nullish(),
  maxVisits: countInput.nullish(),
  forwardQuery: flagInput.nullish(),
}
const editBody = z.looseObject({ longUrl: z.string().min(1).optional(), ...changes })
const createBody = z.looseObject({
  longUrl: z.string().min(1),
  ...changes,
  customSlug: z.string().nullish(),
  pathPrefix: z.string().nullish(),
  shortCodeLength: countInput.pipe(z.int().min(4)).nullish(),
  domain: z.string().nullish(),
  findIfExists: flagInput.nullish(),
})

type Changes = z.output<z.ZodObject<typeof changes>>
type CreateBody = z.output<typeof createBody>

/** Shlink's spelling of a tag. */
function tagOf(text: string): string {
  return text.trim().replaceAll(' ', '-').toLowerCase()
}

/** The fields of a link that a body changes. Fields that are left out stay. */
function fieldsOf(body: Changes, before?: IncludingLink) {
  const { title, tags, validSince, validUntil, maxVisits, forwardQuery } = body
  // Tags that the link has already come back as they are.
  const tagged = tags?.map((tag) => (before?.tags.includes(tag) ? tag : tagOf(tag)))
  const query = forwardQuery ? 'merge' : 'drop'
  const isForwarded = before?.options?.query !== 'drop'
  const isOther = typeof forwardQuery === 'boolean' && forwardQuery !== isForwarded
  return {
    ...(title !== undefined && { notes: title || null }),
    ...(tagged !== undefined && { tags: tagged.filter((tag) => tag !== '') }),
    ...(validSince !== undefined && { active_from: validSince }),
    ...(validUntil !== undefined && { expires_at: validUntil }),
    ...(maxVisits !== undefined && { max_clicks: maxVisits }),
    ...(isOther && { query }),
  }
}

const GENERATED_LENGTH = 5
const ATTEMPTS_MAX = 8

/** @throws {ShlinkProblem} */
export async function createShortUrl(shlink: ShlinkCall, sent: unknown) {
  const body = parseBody(createBody, sent)
  const existing = body.findIfExists ? await findExisting(shlink, body) : undefined
  return shortUrlOf(shlink, existing ?? (await createLink(shlink, body)))
}

async function createLink(shlink: ShlinkCall, body: CreateBody): Promise<IncludingLink> {
  const { call, defaultHost } = shlink
  const { longUrl, pathPrefix, shortCodeLength } = body
  const slug = slugOf(body)
  const prefix = pathPrefix ?? ''
  const isGenerated = slug === '' && (prefix !== '' || Boolean(shortCodeLength))
  const length = shortCodeLength ?? GENERATED_LENGTH
  for (let attempt = 1; ; attempt += 1) {
    const name = isGenerated ? generateKey(systemRandom, length) : slug
    const key = name === '' ? {} : { key: prefix + name }
    const fields = { ...fieldsOf(body), ...key, url: longUrl, domain: body.domain || defaultHost }
    try {
      const { id } = await call.post<IncludingLink>('/links', fields)
      return await readLink(call, id)
    } catch (error) {
      if (!isTaken(error)) throw error
      if (!isGenerated) throw nonUniqueSlug(prefix + slug, body.domain || undefined)
      if (attempt === ATTEMPTS_MAX) throw error
    }
  }
}

function slugOf({ customSlug }: CreateBody): string {
  return (customSlug ?? '').trim().replaceAll(' ', '-')
}

function isTaken(error: unknown): boolean {
  return error instanceof CallRefused && hasFault(error.refusal, 'key', 'taken')
}

/** The oldest link that has all that the body asks for, as Shlink finds it. Links of Shlink have no password. */
async function findExisting(
  { call, defaultHost }: ShlinkCall,
  body: CreateBody,
): Promise<IncludingLink | undefined> {
  const { longUrl, pathPrefix, tags } = body
  const slug = slugOf(body)
  const { data } = await call.get<{ data: IncludingLink[] }>('/links', {
    ...{ url: longUrl, domain: body.domain || defaultHost, archived: 'any' },
    ...(slug !== '' && { key: `${pathPrefix ?? ''}${slug}` }),
    ...{ sort: 'created_at', per_page: 100, ...WITH_OPTIONS },
  })
  const wanted = new Set(tags?.map(tagOf))
  const isSame = (one: string | null | undefined, other: string | null | undefined) =>
    !one || (Boolean(other) && shlinkDate(one) === shlinkDate(other ?? ''))
  return data.find(
    ({ tags: has, password, expires_at, options }) =>
      password === null &&
      (!body.maxVisits || options?.max_clicks === body.maxVisits) &&
      isSame(body.validSince, options?.active_from) &&
      isSame(body.validUntil, expires_at) &&
      (wanted.size === 0 || (has.length === wanted.size && has.every((tag) => wanted.has(tag)))),
  )
}

/** @throws {ShlinkProblem} */
export async function editShortUrl(shlink: ShlinkCall, before: IncludingLink, sent: unknown) {
  const { longUrl, ...body } = parseBody(editBody, sent)
  const fields = { ...fieldsOf(body, before), ...(longUrl !== undefined && { url: longUrl }) }
  const { call } = shlink
  const { id } = before
  if (Object.keys(fields).length > 0) await call.patch(`/links/${id}`, fields)
  return shortUrlOf(shlink, await readLink(call, id))
}

const rulesBody = z.looseObject({
  redirectRules: z.array(
    z.looseObject({
      longUrl: z.string().min(1),
      conditions: z.array(
        z.looseObject({
          type: z.string(),
          matchKey: z.string().nullish(),
          matchValue: z.string().nullish(),
        }),
      ),
    }),
  ),
})

/** The rules of a link as Shlink has them. Rules that it has no form for are left out, and counted. */
async function readRules({ call }: ShlinkCall, link: IncludingLink) {
  const { rules } = await call.get<LinkRulesResource>(`/links/${link.id}/rules`)
  const shown = rules.flatMap((rule) => redirectRuleOf(rule) ?? [])
  return { rules, shown, devices: deviceRules(link), hidden: rules.length - shown.length }
}

/** Destinations for devices come behind all rules. */
function deviceRules({ ios, android }: IncludingLink): readonly RedirectRule[] {
  return Object.entries({ ios, android }).flatMap(([os, longUrl]) => {
    const conditions = [{ type: 'device', matchKey: null, matchValue: os }]
    return longUrl === null ? [] : [{ longUrl, conditions }]
  })
}

export async function listRules(shlink: ShlinkCall, link: IncludingLink) {
  const { shown, devices } = await readRules(shlink, link)
  const redirectRules = [...shown, ...devices].map(({ longUrl, conditions }, index) => ({
    longUrl,
    priority: index + 1,
    conditions: conditions.map((condition) => withDate(condition, shlinkDate)),
  }))
  return { defaultLongUrl: link.url, redirectRules }
}

/** Replaces all rules. Those that stay keep their ids, by which their clicks are counted. @throws {ShlinkProblem} */
export async function setRules(shlink: ShlinkCall, link: IncludingLink, sent: unknown) {
  const { redirectRules } = parseBody(rulesBody, sent)
  const { rules: before, devices, hidden } = await readRules(shlink, link)
  if (hidden > 0) {
    const reason = `${hidden} of its rules have no form at Shlink, and would be lost: change them in Terse.`
    throw invalidData(['redirectRules'], reason)
  }
  const all = redirectRules.map(({ longUrl, conditions }, index) => ({
    longUrl,
    priority: index + 1,
    conditions: conditions.map(({ type, matchKey = null, matchValue = null }) =>
      withDate({ type, matchKey, matchValue }, instantOf),
    ),
  }))
  const last = all.slice(all.length - devices.length)
  const keepsDevices = isDeepStrictEqual(
    last.map(({ priority: _, ...rule }) => rule),
    devices,
  )
  const { rules, left, notes } = convertRules(
    keepsDevices ? all.slice(0, -devices.length || undefined) : all,
  )
  if (left.length > 0) throw invalidData(['redirectRules'], notes.join(' '))
  const { call } = shlink
  await call.put(`/links/${link.id}/rules`, { rules: withIds(rules, before) })
  if (!keepsDevices) await call.patch(`/links/${link.id}`, { ios: null, android: null })
  return listRules(shlink, await readLink(call, link.id))
}

type RedirectCondition = RedirectRule['conditions'][number]

/** Writes the date of a condition in another way. */
function withDate(
  condition: RedirectCondition,
  write: (text: string) => string,
): RedirectCondition {
  const { type, matchValue } = condition
  const isDate = type === 'before-date' || type === 'after-date'
  return isDate ? { ...condition, matchValue: write(String(matchValue)) } : condition
}

/** As our API writes an instant, so that rules that stay are known again. */
function instantOf(text: string): string {
  const micros = microsOf(text)
  return micros === null ? text : formatInstant(micros)
}

function withIds(rules: readonly RuleInput[], before: LinkRulesResource['rules']): RuleInput[] {
  const left = [...before]
  return rules.map(({ when, then }) => {
    const index = left.findIndex(
      (rule) => rule.then.url === then.url && isDeepStrictEqual(rule.when, when),
    )
    const [same] = index === -1 ? [] : left.splice(index, 1)
    return same ?? { when, then }
  })
}

import { z } from 'zod'
import type { ImportSource } from '../../import-source.ts'
import type { SelfHostedApiSettings } from '../../source-kinds.ts'
import { type RedirectRule, shlinkTargeting } from '../../targeting/shlink-targeting.ts'
import { peerOptions } from '../peer-options.ts'
import {
  clickRecord,
  linkRecord,
  microsOf,
  type PagedList,
  parseItem,
  readPages,
  readTimeOrderedPage,
  refusedRecord,
  restOf,
  type SourcePage,
  type SourceRecord,
  type TimeCursor,
} from './pages.ts'
import { type ApiDeps, SourceClient, waitingClock } from './source-client.ts'

const PAGE_SIZE = 50
const VISITS_PAGE_SIZE = 300
const LIMITS = [{ requests: 10, perMs: 1_000 }]
/** What has a field in Terse, or is read apart. */
const TAKEN = [
  ...['shortCode', 'longUrl', 'dateCreated', 'tags', 'meta', 'domain', 'visitsCount'],
  ...['visitsSummary', 'hasRedirectRules', 'redirectRules', 'deviceLongUrls', 'forwardQuery'],
]

const paginationSchema = z.object({ pagesCount: z.int(), totalItems: z.int().min(0) })
const itemSchema = z.looseObject({
  shortCode: z.string(),
  domain: z.string().nullish(),
  dateCreated: z.string(),
})
const pageSchema = z.object({
  shortUrls: z.object({ data: z.array(itemSchema), pagination: paginationSchema }),
})
const linkSchema = itemSchema.extend({
  longUrl: z.string(),
  tags: z.array(z.string()).nullish(),
  meta: z
    .object({
      validSince: z.string().nullish(),
      validUntil: z.string().nullish(),
      maxVisits: z.int().nullish(),
    })
    .nullish(),
  visitsSummary: z.looseObject({ total: z.int().min(0) }).nullish(),
  /** Set by releases before 3.5. */
  visitsCount: z.int().min(0).nullish(),
  hasRedirectRules: z.boolean().nullish(),
  forwardQuery: z.boolean().nullish(),
  /** Of releases before 4.0. */
  deviceLongUrls: z.unknown().optional(),
  title: z.string().nullish(),
})
const visitSchema = z.looseObject({
  date: z.string(),
  referer: z.string().nullish(),
  userAgent: z.string().nullish(),
  potentialBot: z.boolean().nullish(),
  visitLocation: z.looseObject({ countryCode: z.string().nullish() }).nullish(),
})
const visitsSchema = z.object({
  visits: z.object({ data: z.array(visitSchema), pagination: paginationSchema }),
})

type Item = z.infer<typeof itemSchema>
type ShlinkLink = z.infer<typeof linkSchema>
type Visit = z.infer<typeof visitSchema>
/** Visits after `until` are not read: they would move the pages of visits between two requests. */
type Cursor = { readonly until: string; readonly at: TimeCursor | undefined }

/** Reads Shlink: all short URLs of the API key, their redirect rules, and each visit. */
export function openShlink(settings: SelfHostedApiSettings, deps: ApiDeps): ImportSource {
  const client = new SourceClient({
    ...deps,
    service: 'Shlink',
    url: `${settings.url.replace(/\/+$/, '')}/rest/v3`,
    headers: { 'x-api-key': settings.token },
    limits: LIMITS,
  })
  const { nowMs } = deps.clock ?? waitingClock
  return {
    name: 'shlink-api',
    countLinks: async (signal) => (await listPage(client, 0, 1, signal)).pagination.totalItems,
    read: (options) => readPages(new ShlinkLinks(client, nowMs), options),
    close: async () => {},
  }
}

class ShlinkLinks implements PagedList<Item, Cursor> {
  readonly #client: SourceClient
  readonly #nowMs: () => number

  constructor(client: SourceClient, nowMs: () => number) {
    this.#client = client
    this.#nowMs = nowMs
  }

  firstCursor(): Cursor {
    return { until: new Date(this.#nowMs()).toISOString(), at: undefined }
  }

  async fetchPage(
    cursor: Cursor | undefined,
    signal: AbortSignal,
  ): Promise<SourcePage<Item, Cursor>> {
    const { until, at } = cursor ?? this.firstCursor()
    const { items, next } = await readTimeOrderedPage<Item>(
      {
        fetchSlice: async (start, size) => {
          const index = Math.floor(start / size)
          const { data, pagination } = await listPage(this.#client, index, size, signal)
          const isLast = index + 1 >= pagination.pagesCount
          return { start: index * size, items: data, isLast }
        },
        timeOf: ({ dateCreated }) => microsOf(dateCreated) ?? 0,
        idOf: (item) => this.idOf(item),
        order: 'oldest first',
        size: PAGE_SIZE,
      },
      at,
    )
    return { items, next: next && { until, at: next } }
  }

  idOf({ domain, shortCode }: Item): string {
    return refOf(domain, shortCode)
  }

  async *recordsOf(
    raw: Item,
    { place, skip, signal }: { place: string; skip: number; signal: AbortSignal },
    cursor: Cursor | undefined,
  ): AsyncGenerator<SourceRecord> {
    const parsed = parseItem(linkSchema, raw, place)
    if ('refused' in parsed) {
      if (skip === 0) yield parsed.refused
      return
    }
    const link = parsed.item
    if (skip === 0) {
      const rules = link.hasRedirectRules ? await this.#rulesOf(link, signal) : []
      yield this.#linkRecord(link, rules, place)
    }
    if (totalOf(link) === 0) return
    const { until } = cursor ?? this.firstCursor()
    yield* this.#clicksOf(link, { after: Math.max(0, skip - 1), until, signal })
  }

  /** The visits after the first `after`, newest first. */
  async *#clicksOf(
    link: ShlinkLink,
    { after, until, signal }: { after: number; until: string; signal: AbortSignal },
  ): AsyncGenerator<SourceRecord> {
    const ref = this.idOf(link)
    let skip = after % VISITS_PAGE_SIZE
    for (let page = Math.floor(after / VISITS_PAGE_SIZE) + 1; ; page += 1) {
      const found = await this.#client.find({
        path: `/short-urls/${pathOf(link.shortCode)}/visits`,
        query: { page, itemsPerPage: VISITS_PAGE_SIZE, endDate: until, ...domainQuery(link) },
        schema: visitsSchema,
        signal,
      })
      // Undefined for a link that was deleted a moment ago.
      for (const visit of found?.visits.data.slice(skip) ?? []) {
        yield visitRecord(ref, visit)
      }
      if (found === undefined || page >= found.visits.pagination.pagesCount) return
      skip = 0
    }
  }

  async #rulesOf(link: ShlinkLink, signal: AbortSignal): Promise<readonly RedirectRule[]> {
    const found = await this.#client.find({
      path: `/short-urls/${pathOf(link.shortCode)}/redirect-rules`,
      query: domainQuery(link),
      schema: redirectRulesSchema,
      signal,
    })
    return found?.redirectRules ?? []
  }

  #linkRecord(link: ShlinkLink, rules: readonly RedirectRule[], place: string): SourceRecord {
    const { ios, android, ...targeting } = shlinkTargeting({
      redirectRules: rules,
      deviceLongUrls: link.deviceLongUrls,
    })
    const { validSince, validUntil } = link.meta ?? {}
    const { options, taken } = peerOptions('shlink', { ...link, ...link.meta }, link.longUrl)
    return linkRecord({
      ref: this.idOf(link),
      place,
      domain: link.domain ?? null,
      key: link.shortCode,
      url: link.longUrl,
      ios,
      android,
      rules: targeting.rules,
      options,
      tags: link.tags ?? [],
      expires_at: microsOf(validUntil),
      closed: this.#closedBecause(link),
      created_at: microsOf(link.dateCreated),
      clicks: totalOf(link),
      rest: {
        ...restOf(link, [...TAKEN, ...taken]),
        ...targeting.rest,
        ...(validSince && options.active_from === undefined && { validSince }),
      },
      notes: targeting.notes,
    })
  }

  #closedBecause(link: ShlinkLink): string | null {
    const { validSince, maxVisits } = link.meta ?? {}
    if (validSince && microsOf(validSince) === null) {
      return `It does not redirect before "${validSince}" at Shlink, which is no date.`
    }
    if (maxVisits && (totalOf(link) ?? maxVisits) >= maxVisits) {
      return `It reached its limit of ${maxVisits} visits at Shlink.`
    }
    return null
  }
}

async function listPage(client: SourceClient, index: number, size: number, signal: AbortSignal) {
  const { shortUrls } = await client.read({
    path: '/short-urls',
    query: { page: index + 1, itemsPerPage: size, orderBy: 'dateCreated-ASC' },
    schema: pageSchema,
    signal,
  })
  return shortUrls
}

function visitRecord(ref: string, visit: Visit): SourceRecord {
  const at = microsOf(visit.date)
  if (at === null) return refusedRecord(`visits of ${ref}`, 'Its date is no instant.', visit)
  const country = visit.visitLocation?.countryCode?.toUpperCase() ?? ''
  return clickRecord({
    ref,
    at,
    address: null,
    user_agent: visit.userAgent || null,
    referrer: visit.referer ?? '',
    country: /^[A-Z]{2}$/.test(country) ? country : '',
    is_bot: visit.potentialBot ?? false,
  })
}

function totalOf({ visitsSummary, visitsCount }: ShlinkLink): number | null {
  return visitsSummary?.total ?? visitsCount ?? null
}

function refOf(domain: string | null | undefined, shortCode: string): string {
  return `${domain ?? ''}/${shortCode}`.slice(0, 500)
}

/** A slash in a short code stays one: Shlink's routes take it as it is in short URLs. */
function pathOf(shortCode: string): string {
  return shortCode.split('/').map(encodeURIComponent).join('/')
}

function domainQuery({ domain }: ShlinkLink): { domain?: string } {
  return domain ? { domain } : {}
}

const ruleSchema = z.looseObject({
  longUrl: z.string(),
  priority: z.number().nullish(),
  conditions: z.array(
    z.looseObject({ type: z.string(), matchKey: z.unknown().optional(), matchValue: z.unknown() }),
  ),
})

export const redirectRulesSchema = z.object({ redirectRules: z.array(ruleSchema) })

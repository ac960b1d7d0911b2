import { z } from 'zod'
import { type ImportSource, ImportSourceFault } from '../../import-source.ts'
import type { ShortIoSettings } from '../../source-kinds.ts'
import { shortIoTargeting } from '../../targeting/peer-targeting.ts'
import { peerOptions } from '../peer-options.ts'
import {
  linkRecord,
  microsOf,
  type PagedList,
  parseItem,
  readPages,
  restOf,
  type SourcePage,
  type SourceRecord,
} from './pages.ts'
import { type ApiDeps, SourceClient } from './source-client.ts'

const API_URL = 'https://api.short.io'
const STATISTICS_URL = 'https://statistics.short.io'
const PAGE_SIZE = 50
const LIMITS = [{ requests: 20, perMs: 1_000 }]
const STATISTICS_LIMITS = [{ requests: 60, perMs: 60_000 }]
/** What has a field in Terse, or says nothing about the link. */
const TAKEN = [
  ...['id', 'idString', 'path', 'originalURL', 'shortURL', 'secureShortURL', 'iphoneURL'],
  ...['androidURL', 'utmSource', 'utmMedium', 'utmCampaign', 'utmTerm', 'utmContent', 'expiresAt'],
  ...['expiredURL', 'tags', 'createdAt', 'DomainId', 'OwnerId', 'User', 'splitURL', 'splitPercent'],
]

const domainsSchema = z.array(z.looseObject({ id: z.int(), hostname: z.string() }))
const pageSchema = z.object({
  links: z.array(z.looseObject({ id: z.union([z.string(), z.number()]) })),
  nextPageToken: z.string().nullish(),
})
const date = z.union([z.string(), z.number()]).nullish()
const text = z.string().nullish()
const linkSchema = z.looseObject({
  id: z.union([z.string(), z.number()]),
  path: z.string(),
  originalURL: z.string(),
  iphoneURL: text,
  androidURL: text,
  utmSource: text,
  utmMedium: text,
  utmCampaign: text,
  utmTerm: text,
  utmContent: text,
  tags: z.array(z.string()).nullish(),
  createdAt: date,
  expiresAt: date,
  expiredURL: text,
  hasPassword: z.boolean().nullish(),
  password: text,
  cloaking: z.boolean().nullish(),
  splitURL: text,
  splitPercent: z.unknown().optional(),
  clicksLimit: z.number().nullish(),
})
const clicksSchema = z.record(z.string(), z.coerce.number().int().min(0))
/** What these answer is not documented: it is read as far as it has a known form. */
const undocumented = z.unknown()

type ShortLink = z.infer<typeof linkSchema>
type Domain = z.infer<typeof domainsSchema>[number]
/** A link as it is listed, its domain, and its clicks; null where the statistics have none. */
type Item = {
  readonly raw: z.infer<typeof pageSchema>['links'][number]
  readonly domain: Domain
  readonly clicks: number | null
}
type Cursor = { readonly domain: number; readonly token: string | undefined }
/** What takes a request for each link. */
type Details = {
  readonly countries: unknown
  readonly regions: unknown
  readonly openGraph: unknown
}

/**
 * Reads Short.io: the links of one domain after another, their totals of clicks, the rules that send countries and
 * regions elsewhere, and their previews.
 */
export function openShortIo(settings: ShortIoSettings, deps: ApiDeps): ImportSource {
  const common = { ...deps, service: 'Short.io', headers: { authorization: settings.token } }
  const client = new SourceClient({ ...common, url: settings.url ?? API_URL, limits: LIMITS })
  // The statistics have a host of their own.
  const url = settings.url ?? STATISTICS_URL
  const statistics = new SourceClient({ ...common, url, limits: STATISTICS_LIMITS })
  return {
    name: 'shortio-api',
    countLinks: async () => undefined,
    read: (options) => readPages(new ShortIoLinks(client, statistics, settings.domains), options),
    close: async () => {},
  }
}

class ShortIoLinks implements PagedList<Item, Cursor> {
  readonly #client: SourceClient
  readonly #statistics: SourceClient
  readonly #names: readonly string[] | undefined
  #domains: Promise<readonly Domain[]> | undefined

  constructor(
    client: SourceClient,
    statistics: SourceClient,
    names: readonly string[] | undefined,
  ) {
    this.#client = client
    this.#statistics = statistics
    this.#names = names?.map((name) => name.toLowerCase())
  }

  async fetchPage(
    cursor: Cursor | undefined,
    signal: AbortSignal,
  ): Promise<SourcePage<Item, Cursor>> {
    this.#domains ??= this.#listDomains(signal)
    const domains = await this.#domains
    const at = cursor === undefined ? 0 : domains.findIndex(({ id }) => id === cursor.domain)
    const domain = domains[at]
    if (domain === undefined) {
      if (cursor === undefined) return { items: [], next: undefined }
      const message = 'Short.io no longer has the domain at which the import was interrupted.'
      throw new ImportSourceFault(message, { isTransient: false })
    }
    const { links, nextPageToken } = await this.#client.read({
      path: '/api/links',
      query: {
        domain_id: domain.id,
        limit: PAGE_SIZE,
        ...(cursor?.token !== undefined && { pageToken: cursor.token }),
      },
      schema: pageSchema,
      signal,
    })
    const clicks = links.length === 0 ? {} : await this.#clicksOf(domain.id, links, signal)
    const items = links.map((raw) => {
      return { raw, domain, clicks: clicks === undefined ? null : (clicks[String(raw.id)] ?? 0) }
    })
    return { items, next: nextCursor(domain.id, nextPageToken, domains[at + 1]) }
  }

  idOf({ raw }: Item): string {
    return String(raw.id)
  }

  async *recordsOf(
    { raw, domain, clicks }: Item,
    { place, skip, signal }: { place: string; skip: number; signal: AbortSignal },
  ): AsyncGenerator<SourceRecord> {
    if (skip > 0) return
    const parsed = parseItem(linkSchema, raw, place)
    if ('refused' in parsed) yield parsed.refused
    else {
      const details = await this.#detailsOf(domain, parsed.item.id, signal)
      yield recordOf(parsed.item, { place, hostname: domain.hostname, clicks, details })
    }
  }

  async #listDomains(signal: AbortSignal): Promise<readonly Domain[]> {
    const all = await this.#client.read({ path: '/api/domains', schema: domainsSchema, signal })
    const names = this.#names
    if (names === undefined) return all
    const missing = names.find((name) => !all.some(({ hostname }) => hostname === name))
    if (missing === undefined) return all.filter(({ hostname }) => names.includes(hostname))
    const message = `Short.io has no domain ${missing} for this token.`
    throw new ImportSourceFault(message, { isTransient: false })
  }

  #clicksOf(
    domainId: number,
    links: readonly { readonly id: string | number }[],
    signal: AbortSignal,
  ): Promise<Record<string, number> | undefined> {
    return this.#statistics.find({
      path: `/statistics/domain/${domainId}/link_clicks`,
      query: { ids: links.map(({ id }) => id).join(',') },
      schema: clicksSchema,
      signal,
    })
  }

  async #detailsOf(domain: Domain, id: string | number, signal: AbortSignal): Promise<Details> {
    const link = encodeURIComponent(String(id))
    const read = (path: string) =>
      this.#client.find({ path: `/${path}/${link}`, schema: undocumented, signal })
    return {
      countries: await read('link_country'),
      regions: await read('link_region'),
      openGraph: await read(`links/opengraph/${domain.id}`),
    }
  }
}

function nextCursor(
  domain: number,
  token: string | null | undefined,
  nextDomain: Domain | undefined,
): Cursor | undefined {
  if (token) return { domain, token }
  return nextDomain === undefined ? undefined : { domain: nextDomain.id, token: undefined }
}

function recordOf(
  link: ShortLink,
  known: { place: string; hostname: string; clicks: number | null; details: Details },
): SourceRecord {
  const { place, hostname, clicks, details } = known
  const isLocked = link.hasPassword || Boolean(link.password)
  const { splitURL, splitPercent } = link
  const devices = { ios: link.iphoneURL || null, android: link.androidURL || null }
  const targeting = shortIoTargeting({ ...devices, ...details, splitURL, splitPercent })
  const preview = previewOf(details.openGraph)
  const { options, taken } = peerOptions('shortio', { ...link, ...preview }, link.originalURL)
  return linkRecord({
    ref: String(link.id),
    place,
    domain: hostname,
    key: link.path,
    url: link.originalURL,
    ios: targeting.ios,
    android: targeting.android,
    rules: targeting.rules,
    options,
    utm_source: link.utmSource || null,
    utm_medium: link.utmMedium || null,
    utm_campaign: link.utmCampaign || null,
    utm_term: link.utmTerm || null,
    utm_content: link.utmContent || null,
    tags: link.tags ?? [],
    expires_at: microsOf(link.expiresAt),
    expired_redirect_url: link.expiredURL || null,
    protection: { kind: isLocked ? 'unknown password' : 'none' },
    closed: limitReached(link, clicks),
    created_at: microsOf(link.createdAt),
    clicks,
    rest: {
      ...restOf({ ...link, ...preview }, [...TAKEN, ...taken]),
      ...targeting.rest,
    },
    notes: [...notesOf(link, clicks), ...targeting.notes],
  })
}

/** Returns the properties of a preview, which its requests have as pairs of a name and a text, by `og:` and their name. */
function previewOf(openGraph: unknown): Readonly<Record<string, unknown>> {
  const pairs = Array.isArray(openGraph) ? openGraph : Object.entries(openGraph ?? {})
  const named = pairs.filter((pair) => Array.isArray(pair) && typeof pair[0] === 'string')
  return Object.fromEntries(named.map(([name, value]) => [`og:${name}`, value]))
}

/** Closes a link with a limit whose clicks are unknown, so that it is not open for more visits than it was. */
function limitReached({ clicksLimit }: ShortLink, clicks: number | null): string | null {
  if (!clicksLimit) return null
  if (clicks === null) return `It has a limit of ${clicksLimit} clicks, and its clicks are unknown.`
  return clicks >= clicksLimit ? `It reached its limit of ${clicksLimit} clicks.` : null
}

function notesOf(link: ShortLink, clicks: number | null): string[] {
  const notes: string[] = []
  if (clicks === null) notes.push('Short.io gave no clicks for this link.')
  if (link.cloaking) notes.push('Short.io shows the destination in a frame; Terse redirects to it.')
  return notes
}

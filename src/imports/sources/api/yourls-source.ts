import { z } from 'zod'
import type { ImportSource } from '../../import-source.ts'
import type { SelfHostedApiSettings } from '../../source-kinds.ts'
import { peerOptions } from '../peer-options.ts'
import {
  allAfter,
  linkRecord,
  microsOf,
  type PagedList,
  parseItem,
  readPages,
  readTimeOrderedPage,
  refusedRecord,
  restOf,
  type SourceRecord,
  type TimeCursor,
} from './pages.ts'
import { type ApiDeps, SourceClient } from './source-client.ts'

const PAGE_SIZE = 500
const LIMITS = [{ requests: 10, perMs: 1_000 }]
/** What has a field in Terse; and the address of the person who created the link, which Terse never keeps. */
const TAKEN = ['url', 'timestamp', 'clicks', 'ip']

/** Older PHP sends numbers as text. */
const count = z.union([z.int().min(0), z.string().regex(/^\d+$/).transform(Number)])
const itemSchema = z.looseObject({ shorturl: z.string(), timestamp: z.string() })
const statsSchema = z.object({
  stats: z.object({ total_links: count }),
  /** An object with the names `link_1`, `link_2` and so on; missing past the end. */
  links: z.record(z.string(), itemSchema).nullish(),
})
const totalsSchema = z.object({ 'db-stats': z.object({ total_links: count }) })
const linkSchema = itemSchema.extend({
  url: z.string(),
  title: z.string().nullish(),
  clicks: count,
})

type Item = z.infer<typeof itemSchema>

/** Reads YOURLS: all links, with their totals of clicks. */
export function openYourls(settings: SelfHostedApiSettings, deps: ApiDeps): ImportSource {
  const site = settings.url.replace(/\/+(?:yourls-api\.php)?$/, '')
  const client = new SourceClient({
    ...deps,
    service: 'YOURLS',
    url: site,
    headers: {},
    limits: LIMITS,
  })
  return {
    name: 'yourls-api',
    countLinks: async (signal) => {
      const request = requestOf(settings.token, { action: 'db-stats' })
      const found = await client.read({ ...request, schema: totalsSchema, signal })
      return found['db-stats'].total_links
    },
    read: (options) => readPages(yourlsLinks(client, { ...settings, url: site }), options),
    close: async () => {},
  }
}

function yourlsLinks(
  client: SourceClient,
  { url, token, timeZone }: SelfHostedApiSettings,
): PagedList<Item, TimeCursor> {
  const fetchSlice = async (start: number, size: number, signal: AbortSignal) => {
    const parameters = { action: 'stats', filter: 'last', start, limit: size }
    const request = requestOf(token, parameters)
    const { links } = await client.read({ ...request, schema: statsSchema, signal })
    const items = Object.values(links ?? {})
    return { start, items, isLast: items.length < size }
  }
  const sitePath = pathBelowHost(url) ?? ''
  return {
    fetchPage: (cursor, signal) =>
      readTimeOrderedPage<Item>(
        {
          fetchSlice: (start, size) => fetchSlice(start, size, signal),
          timeOf: ({ timestamp }) => timestamp,
          idOf: ({ shorturl }) => shorturl,
          order: 'newest first',
          size: PAGE_SIZE,
        },
        cursor,
      ),
    idOf: ({ shorturl }) => shorturl,
    recordsOf: (item, { place, skip }) =>
      allAfter(recordsOf(item, { place, sitePath, timeZone }), skip),
  }
}

/** The token goes by POST, so that it is in no log of the web server. */
function requestOf(token: string, parameters: Readonly<Record<string, string | number>>) {
  const texts = Object.entries(parameters).map(([name, value]) => [name, String(value)])
  return {
    path: '/yourls-api.php',
    form: { ...Object.fromEntries(texts), format: 'json', signature: token },
  }
}

function recordsOf(
  raw: Item,
  { place, sitePath, timeZone }: { place: string; sitePath: string; timeZone: string },
): SourceRecord[] {
  const parsed = parseItem(linkSchema, raw, place)
  if ('refused' in parsed) return [parsed.refused]
  const { item } = parsed
  const path = pathBelowHost(item.shorturl)
  if (path === undefined || !path.startsWith(`${sitePath}/`)) {
    return [refusedRecord(place, 'Its shorturl is not below the address of the site.', raw)]
  }
  // YOURLS writes the keyword as it is, and not as a URL would have it.
  const key = path.slice(sitePath.length + 1)
  return [
    linkRecord({
      ref: key.slice(0, 500),
      place,
      domain: null,
      key,
      url: item.url,
      created_at: microsOf(item.timestamp, timeZone),
      clicks: item.clicks,
      options: peerOptions('yourls', item, item.url).options,
      rest: restOf(item, [...TAKEN, 'title']),
    }),
  ]
}

/** Returns what follows the host, such as `/s/abc`; '' if nothing does. */
function pathBelowHost(address: string): string | undefined {
  return /^[a-z]+:\/\/[^/]+(.*)$/is.exec(address)?.[1]
}

import { z } from 'zod'
import type { ImportSource } from '../../import-source.ts'
import type { TokenApiSettings } from '../../source-kinds.ts'
import { rebrandlyRuleNames, rebrandlyTargeting } from '../../targeting/peer-targeting.ts'
import { peerOptions } from '../peer-options.ts'
import {
  lastIdList,
  linkRecord,
  microsOf,
  parseItem,
  readPages,
  restOf,
  type SourceRecord,
} from './pages.ts'
import { type ApiDeps, SourceClient } from './source-client.ts'

const API_URL = 'https://api.rebrandly.com/v1'
const PAGE_SIZE = 25
const LIMITS = [{ requests: 10, perMs: 1_000 }]
/** What has a field in Terse, or says nothing about the link. */
const TAKEN = [
  ...['id', 'domain', 'slashtag', 'destination', 'tags', 'createdAt', 'clicks', 'lastClickAt'],
  'shortUrl',
]

const itemsSchema = z.array(z.looseObject({ id: z.string() }))
const linkSchema = z.looseObject({
  id: z.string(),
  slashtag: z.string(),
  destination: z.string(),
  domain: z.looseObject({ fullName: z.string() }),
  tags: z.array(z.looseObject({ name: z.string() })).nullish(),
  createdAt: z.string(),
  clicks: z.int().min(0).nullish(),
  lastClickAt: z.string().nullish(),
  status: z.string().nullish(),
})

type Item = z.infer<typeof itemsSchema>[number]

/** Reads Rebrandly: all links of the key's workspace, with their totals of clicks. */
export function openRebrandly(settings: TokenApiSettings, deps: ApiDeps): ImportSource {
  const client = new SourceClient({
    ...deps,
    service: 'Rebrandly',
    url: settings.url ?? API_URL,
    headers: { apikey: settings.token },
    limits: LIMITS,
  })
  return {
    name: 'rebrandly-api',
    countLinks: async (signal) => {
      const schema = z.object({ count: z.int().min(0) })
      return (await client.find({ path: '/links/count', schema, signal }))?.count
    },
    read: (options) => readPages(rebrandlyLinks(client), options),
    close: async () => {},
  }
}

function rebrandlyLinks(client: SourceClient): ReturnType<typeof lastIdList<Item>> {
  const list = (last: string | undefined, signal: AbortSignal) =>
    client.read({
      path: '/links',
      query: {
        orderBy: 'createdAt',
        orderDir: 'desc',
        limit: PAGE_SIZE,
        ...(last !== undefined && { last }),
      },
      schema: itemsSchema,
      signal,
    })
  return lastIdList(list, recordsOf)
}

function recordsOf(raw: Item, place: string): SourceRecord[] {
  const parsed = parseItem(linkSchema, raw, place)
  if ('refused' in parsed) return [parsed.refused]
  const { item } = parsed
  const targeting = rebrandlyTargeting(item)
  const { options, taken } = peerOptions('rebrandly', item, item.destination)
  const isActive = !item.status || item.status === 'active'
  return [
    linkRecord({
      ref: item.id,
      place,
      domain: item.domain.fullName.toLowerCase(),
      key: item.slashtag,
      url: item.destination,
      rules: targeting.rules,
      options,
      tags: (item.tags ?? []).map(({ name }) => name),
      closed: isActive ? null : `Its status at Rebrandly is "${item.status}".`,
      created_at: microsOf(item.createdAt),
      clicks: item.clicks ?? null,
      last_click: microsOf(item.lastClickAt),
      rest: {
        ...restOf(item, [
          ...[...TAKEN, ...taken, ...rebrandlyRuleNames(item)],
          ...(isActive ? ['status'] : []),
        ]),
        ...targeting.rest,
      },
      notes: targeting.notes,
    }),
  ]
}

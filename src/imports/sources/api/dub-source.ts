import { z } from 'zod'
import type { ImportSource, LinkProtection } from '../../import-source.ts'
import type { TokenApiSettings } from '../../source-kinds.ts'
import { dubTargeting } from '../../targeting/peer-targeting.ts'
import { KEPT } from '../../targeting/targeting.ts'
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
import { type ApiDeps, SourceClient, waitingClock } from './source-client.ts'

const API_URL = 'https://api.dub.co'
const PAGE_SIZE = 100
/** What the smallest plan may send. */
const LIMITS = [{ requests: 60, perMs: 60_000 }]
const UTM_FIELDS = ['utm_source', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content']
/** What has a field in Terse, or says nothing about the link. */
const TAKEN = [
  ...['id', 'domain', 'key', 'url', 'ios', 'android', 'tags', 'tagId', 'expiresAt', 'expiredUrl'],
  ...['createdAt', 'clicks', 'lastClicked', 'qrCode', 'workspaceId', 'projectId', 'userId'],
  ...['geo', 'testVariants', 'testStartedAt', 'testCompletedAt'],
]

const itemsSchema = z.array(z.looseObject({ id: z.string() }))
const linkSchema = z.looseObject({
  id: z.string(),
  domain: z.string(),
  key: z.string(),
  url: z.string(),
  ios: z.string().nullish(),
  android: z.string().nullish(),
  password: z.string().nullish(),
  externalId: z.string().nullish(),
  tags: z.array(z.looseObject({ name: z.string() })).nullish(),
  expiresAt: z.string().nullish(),
  expiredUrl: z.string().nullish(),
  disabledAt: z.string().nullish(),
  geo: z.record(z.string(), z.string()).nullish(),
  proxy: z.boolean().nullish(),
  video: z.string().nullish(),
  rewrite: z.boolean().nullish(),
  testVariants: z.unknown().optional(),
  testStartedAt: z.unknown().optional(),
  testCompletedAt: z.unknown().optional(),
  createdAt: z.string(),
  clicks: z.int().min(0).nullish(),
  lastClicked: z.string().nullish(),
})

type DubLink = z.infer<typeof linkSchema>
type Item = z.infer<typeof itemsSchema>[number]

/** Reads Dub: all links of the token's workspace, with their totals of clicks. */
export function openDub(settings: TokenApiSettings, deps: ApiDeps): ImportSource {
  const client = new SourceClient({
    ...deps,
    service: 'Dub',
    url: settings.url ?? API_URL,
    headers: { authorization: `Bearer ${settings.token}` },
    limits: LIMITS,
  })
  const { nowMs } = deps.clock ?? waitingClock
  return {
    name: 'dub-api',
    countLinks: (signal) =>
      client.find({
        path: '/links/count',
        query: { showArchived: 'true' },
        schema: z.int().min(0),
        signal,
      }),
    read: (options) => readPages(dubLinks(client, nowMs), options),
    close: async () => {},
  }
}

function dubLinks(client: SourceClient, nowMs: () => number): ReturnType<typeof lastIdList<Item>> {
  const list = (last: string | undefined, signal: AbortSignal) =>
    client.read({
      path: '/links',
      query: {
        pageSize: PAGE_SIZE,
        showArchived: 'true',
        ...(last !== undefined && { startingAfter: last }),
      },
      schema: itemsSchema,
      signal,
    })
  return lastIdList(list, (item, place) => recordsOf(item, place, nowMs()))
}

function recordsOf(raw: Item, place: string, nowMs: number): SourceRecord[] {
  const parsed = parseItem(linkSchema, raw, place)
  if ('refused' in parsed) return [parsed.refused]
  const { item } = parsed
  const externalId = integerOf(item.externalId)
  const devices = { ios: item.ios || null, android: item.android || null }
  const targeting = dubTargeting({ ...item, ...devices }, nowMs)
  const { options, taken } = peerOptions('dub', item, item.url)
  return [
    linkRecord({
      ref: item.id,
      place,
      domain: item.domain,
      key: item.key === '_root' ? '' : item.key,
      url: item.url,
      ios: targeting.ios,
      android: targeting.android,
      rules: targeting.rules,
      options,
      external_id: externalId,
      tags: (item.tags ?? []).map(({ name }) => name),
      expires_at: microsOf(item.expiresAt),
      expired_redirect_url: item.expiredUrl || null,
      protection: protectionOf(item),
      closed: item.disabledAt ? 'It is disabled at Dub.' : null,
      created_at: microsOf(item.createdAt),
      clicks: item.clicks ?? null,
      last_click: microsOf(item.lastClicked),
      rest: {
        ...restOf(item, [
          ...[...TAKEN, ...taken],
          ...(externalId === null ? [] : ['externalId']),
          ...parametersIn(item.url),
        ]),
        ...targeting.rest,
      },
      notes: [...notesOf(item), ...targeting.notes],
    }),
  ]
}

function protectionOf({ password }: DubLink): LinkProtection {
  return password ? { kind: 'password', password } : { kind: 'none' }
}

/** Only an integer that JavaScript holds exactly has a field. */
function integerOf(text: string | null | undefined): number | null {
  const number = /^\d{1,16}$/.test(text ?? '') ? Number(text) : Number.NaN
  return Number.isSafeInteger(number) && String(number) === text ? number : null
}

/** The UTM fields that only repeat what is in the destination. */
function parametersIn(destination: string): string[] {
  const parameters = URL.parse(destination)?.searchParams
  return UTM_FIELDS.filter((field) => parameters?.has(field))
}

function notesOf(item: DubLink): string[] {
  const notes: string[] = []
  if (item.rewrite) notes.push('Dub shows the destination in a frame; Terse redirects to it.')
  if (item.proxy && item.video) notes.push(`The video of its preview at Dub: ${KEPT}`)
  return notes
}

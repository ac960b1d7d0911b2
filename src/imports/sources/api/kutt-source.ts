import { z } from 'zod'
import { type ImportSource, ImportSourceFault } from '../../import-source.ts'
import type { SelfHostedApiSettings } from '../../source-kinds.ts'
import { peerOptions } from '../peer-options.ts'
import {
  allAfter,
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

const PAGE_SIZE = 50
/** Links that are read again, to see that the list still stands where it was left. */
const OVERLAP = 5
const READS_MAX = 100
const LIMITS = [{ requests: 10, perMs: 1_000 }]
/** What has a field in Terse. */
const TAKEN = [
  ...['id', 'address', 'target', 'banned', 'created_at', 'password', 'expire_in', 'visit_count'],
  'domain',
]

const pageSchema = z.object({
  total: z.int().min(0),
  data: z.array(z.looseObject({ id: z.string() })),
})
const linkSchema = z.looseObject({
  id: z.string(),
  address: z.string(),
  target: z.string(),
  domain: z.string().nullish(),
  banned: z.boolean().nullish(),
  password: z.boolean().nullish(),
  expire_in: z.string().nullish(),
  created_at: z.string(),
  visit_count: z.int().min(0),
})

type Item = z.infer<typeof pageSchema>['data'][number]
type Cursor = {
  /** How many links were read, counted from the oldest. */
  readonly done: number
  /** The IDs of the last of them. */
  readonly last: readonly string[]
  /** How many links there were. */
  readonly total: number
}

/** Reads Kutt: the links of the key's account, with their totals of clicks. */
export function openKutt(settings: SelfHostedApiSettings, deps: ApiDeps): ImportSource {
  const client = new SourceClient({
    ...deps,
    service: 'Kutt',
    url: settings.url,
    headers: { 'x-api-key': settings.token },
    limits: LIMITS,
  })
  return {
    name: 'kutt-api',
    countLinks: async (signal) => (await listLinks(client, 0, 1, signal)).total,
    read: (options) => readPages(kuttLinks(client, settings.timeZone), options),
    close: async () => {},
  }
}

function kuttLinks(client: SourceClient, timeZone: string): PagedList<Item, Cursor> {
  return {
    fetchPage: (cursor, signal) => fetchOldestFirst(client, cursor, signal),
    idOf: ({ id }) => id,
    recordsOf: (item, { place, skip }) => allAfter(recordsOf(item, place, timeZone), skip),
  }
}

/**
 * Reads the next links, oldest first: Kutt lists the newest first, but of links with the same address it serves the
 * oldest, which must come first here too. Links that are created meanwhile do not move the others, as these are
 * counted from the end; where some were deleted, the list is read again from further back.
 */
async function fetchOldestFirst(
  client: SourceClient,
  cursor: Cursor | undefined,
  signal: AbortSignal,
): Promise<SourcePage<Item, Cursor>> {
  let { done, last, total } = cursor ?? {
    done: 0,
    last: [],
    total: (await listLinks(client, 0, 1, signal)).total,
  }
  for (let read = 0; read < READS_MAX; read += 1) {
    const from = Math.max(0, Math.min(done, total) - OVERLAP)
    const skip = Math.max(0, total - from - PAGE_SIZE)
    const limit = total - from - skip
    if (limit === 0) return { items: [], next: undefined }
    const answer = await listLinks(client, skip, limit, signal)
    if (answer.total !== total) {
      total = answer.total
      continue
    }
    const links = answer.data.toReversed()
    const lastRead = links.findLastIndex(({ id }) => last.includes(id))
    if (lastRead === -1 && last.length > 0 && from > 0) {
      done = from + OVERLAP - PAGE_SIZE
      continue
    }
    last = links.slice(-OVERLAP).map(({ id }) => id)
    const next = skip === 0 ? undefined : { done: from + links.length, last, total }
    return { items: links.slice(lastRead + 1), next }
  }
  const message = 'The list of links at Kutt changes while it is read; try again later.'
  throw new ImportSourceFault(message, { isTransient: true })
}

function listLinks(client: SourceClient, skip: number, limit: number, signal: AbortSignal) {
  return client.read({
    path: '/api/v2/links',
    query: { limit, skip },
    schema: pageSchema,
    signal,
  })
}

function recordsOf(raw: Item, place: string, timeZone: string): SourceRecord[] {
  const parsed = parseItem(linkSchema, raw, place)
  if ('refused' in parsed) return [parsed.refused]
  const { item } = parsed
  const { options, taken } = peerOptions('kutt', item, item.target)
  return [
    linkRecord({
      ref: item.id,
      place,
      domain: item.domain || null,
      key: item.address,
      url: item.target,
      expires_at: microsOf(item.expire_in, timeZone),
      protection: { kind: item.password ? 'unknown password' : 'none' },
      closed: item.banned ? 'It is banned at Kutt.' : null,
      created_at: microsOf(item.created_at, timeZone),
      clicks: item.visit_count,
      options,
      rest: restOf(item, [...TAKEN, ...taken]),
    }),
  ]
}

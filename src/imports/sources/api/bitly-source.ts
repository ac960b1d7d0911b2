import { z } from 'zod'
import { type ImportSource, ImportSourceFault } from '../../import-source.ts'
import type { TokenApiSettings } from '../../source-kinds.ts'
import { KEPT } from '../../targeting/targeting.ts'
import { peerOptions } from '../peer-options.ts'
import {
  countRecord,
  linkRecord,
  microsOf,
  type PagedList,
  parseItem,
  readPages,
  refusedRecord,
  restOf,
  type SourcePage,
  type SourceRecord,
  splitShortLink,
} from './pages.ts'
import { type ApiDeps, SourceClient } from './source-client.ts'

const API_URL = 'https://api-ssl.bitly.com/v4'
const PAGE_SIZE = 100
const LIMITS = [
  { requests: 150, perMs: 60_000 },
  { requests: 1_500, perMs: 3_600_000 },
]
/** A list of so many days may lack older ones: Bitly's default size of lists of metrics. */
const DAYS_LISTED = 50
/** After so many links without clicks, the account's plan has none. */
const UNCOUNTED_MAX = 3

/** What has a field in Terse, or says nothing about the link. */
const TAKEN = [
  ...['id', 'long_url', 'custom_bitlinks', 'tags', 'created_at'],
  ...['references', 'created_by', 'client_id', 'expiration_at'],
]

const groupsSchema = z.object({ groups: z.array(z.object({ guid: z.string() })) })
const pageSchema = z.object({
  links: z.array(z.unknown()),
  pagination: z.object({ next: z.string().optional(), search_after: z.string().optional() }),
})
const bitlinkSchema = z.looseObject({
  id: z.string(),
  long_url: z.string(),
  created_at: z.string().nullish(),
  custom_bitlinks: z.array(z.string()).nullish(),
  tags: z.array(z.string()).nullish(),
  deeplinks: z.unknown().optional(),
  expiration_at: z.string().nullish(),
})
const totalSchema = z.object({ total_clicks: z.int().min(0) })
const daysSchema = z.object({
  link_clicks: z.array(z.object({ clicks: z.int().min(0), date: z.string() })),
})

type Bitlink = z.infer<typeof bitlinkSchema>
type Item = { readonly raw: unknown; readonly isRepaired: boolean }
type Cursor = { readonly group: string; readonly after: string | undefined }
/** The beginning of a day, in microseconds since the epoch, and its clicks. */
type Day = { readonly at: number; readonly clicks: number }
type Context = { readonly place: string; readonly skip: number; readonly signal: AbortSignal }

/** Reads Bitly: the links of all groups, archived ones too, and their clicks by day. */
export function openBitly(settings: TokenApiSettings, deps: ApiDeps): ImportSource {
  const client = new SourceClient({
    ...deps,
    service: 'Bitly',
    url: settings.url ?? API_URL,
    headers: { authorization: `Bearer ${settings.token}` },
    limits: LIMITS,
  })
  return {
    name: 'bitly-api',
    countLinks: async () => undefined,
    read: (options) => readPages(new BitlyLinks(client), options),
    close: async () => {},
  }
}

class BitlyLinks implements PagedList<Item, Cursor> {
  readonly #client: SourceClient
  #groups: Promise<readonly string[]> | undefined
  #uncounted = 0

  constructor(client: SourceClient) {
    this.#client = client
  }

  async fetchPage(
    cursor: Cursor | undefined,
    signal: AbortSignal,
  ): Promise<SourcePage<Item, Cursor>> {
    const groups = await this.#listGroups(signal)
    const group = cursor?.group ?? groups[0]
    if (group === undefined) return { items: [], next: undefined }
    let isRepaired = false
    const { links, pagination } = await this.#client.read({
      path: `/groups/${encodeURIComponent(group)}/bitlinks`,
      query: {
        size: PAGE_SIZE,
        archived: 'both',
        ...(cursor?.after !== undefined && { search_after: cursor.after }),
      },
      schema: pageSchema,
      signal,
      repair: (text) => {
        isRepaired = true
        return repairJson(text)
      },
    })
    const items = links.map((raw) => ({ raw, isRepaired }))
    const after = pagination.next ? pagination.search_after : undefined
    if (after) return { items, next: nextInGroup(group, after, cursor) }
    const nextGroup = groups[groups.indexOf(group) + 1]
    return { items, next: nextGroup === undefined ? undefined : { group: nextGroup, after } }
  }

  idOf({ raw }: Item): string {
    return String((raw as { id?: unknown } | null)?.id)
  }

  async *recordsOf(item: Item, { place, skip, signal }: Context): AsyncGenerator<SourceRecord> {
    const parsed = parseItem(bitlinkSchema, item.raw, place)
    const main = 'refused' in parsed ? undefined : splitShortLink(parsed.item.id)
    if ('refused' in parsed || main === undefined) {
      if (skip > 0) return
      yield 'refused' in parsed
        ? parsed.refused
        : refusedRecord(place, 'Its id is no short link.', item.raw)
      return
    }
    const bitlink = parsed.item
    const days = this.#hasNoClicks ? undefined : await this.#daysOf(bitlink.id, signal)
    const total =
      skip === 0 && days !== undefined ? await this.#totalOf(bitlink.id, days, signal) : null
    const links = linksOf(bitlink, { place, total, isRepaired: item.isRepaired })
    yield* links.slice(skip)
    const counts = (days ?? []).filter(({ clicks }) => clicks > 0)
    for (const { at, clicks } of counts.slice(Math.max(0, skip - links.length))) {
      yield countRecord({ ref: refOf(main), at, interval: 'day', count: clicks })
    }
  }

  /** Lists the groups once a run: a request of each page would count against the limits. */
  #listGroups(signal: AbortSignal): Promise<readonly string[]> {
    this.#groups ??= this.#client
      .read({ path: '/groups', schema: groupsSchema, signal })
      .then(({ groups }) => groups.map(({ guid }) => guid))
    return this.#groups
  }

  get #hasNoClicks(): boolean {
    return this.#uncounted >= UNCOUNTED_MAX
  }

  /** Returns the days that Bitly lists, oldest first; undefined where it gives no clicks. */
  async #daysOf(id: string, signal: AbortSignal): Promise<readonly Day[] | undefined> {
    const found = await this.#client.find({
      path: `/bitlinks/${pathOf(id)}/clicks`,
      query: { unit: 'day', units: -1 },
      schema: daysSchema,
      signal,
    })
    this.#uncounted = found === undefined ? this.#uncounted + 1 : 0
    return found?.link_clicks
      .flatMap(({ clicks, date }) => {
        const at = microsOf(date)
        return at === null ? [] : [{ at, clicks }]
      })
      .sort((a, b) => a.at - b.at)
  }

  /** Asks for the total only where the list of days may have been cut: requests are scarce. */
  async #totalOf(id: string, days: readonly Day[], signal: AbortSignal): Promise<number> {
    const listed = days.reduce((sum, { clicks }) => sum + clicks, 0)
    if (days.length < DAYS_LISTED) return listed
    const found = await this.#client.find({
      path: `/bitlinks/${pathOf(id)}/clicks/summary`,
      query: { unit: 'day', units: -1 },
      schema: totalSchema,
      signal,
    })
    return Math.max(listed, found?.total_clicks ?? 0)
  }
}

function nextInGroup(group: string, after: string, cursor: Cursor | undefined): Cursor {
  if (after !== cursor?.after) return { group, after }
  throw new ImportSourceFault('Bitly names the same next page twice.', { isTransient: true })
}

/** The bitlink, and each of its custom back-halves. */
function linksOf(
  bitlink: Bitlink,
  { place, total, isRepaired }: { place: string; total: number | null; isRepaired: boolean },
): SourceRecord[] {
  const notes: string[] = []
  if (isRepaired) {
    notes.push('Bitly sent this page with faults that were repaired: check the destination.')
  }
  if (Array.isArray(bitlink.deeplinks) && bitlink.deeplinks.length > 0) {
    notes.push(`Its deep links at Bitly name apps and no addresses: ${KEPT} Set ios and android.`)
  }
  const { options, taken } = peerOptions('bitly', bitlink, bitlink.long_url)
  const own = refOf(splitShortLink(bitlink.id) ?? { domain: '', key: '' })
  const links = [bitlink.id, ...(bitlink.custom_bitlinks ?? [])]
  const seen = new Set<string>()
  return links.flatMap((link): SourceRecord[] => {
    const place2 = splitShortLink(link)
    if (place2 === undefined)
      return [refusedRecord(place, 'One of its custom_bitlinks is no short link.', link)]
    const ref = refOf(place2)
    if (seen.has(ref)) return []
    seen.add(ref)
    const isOwn = ref === own
    return [
      linkRecord({
        ref,
        place,
        ...place2,
        url: bitlink.long_url,
        tags: bitlink.tags ?? [],
        expires_at: microsOf(bitlink.expiration_at),
        options,
        created_at: microsOf(bitlink.created_at),
        clicks: isOwn ? total : null,
        rest: {
          ...restOf(bitlink, [...TAKEN, ...taken]),
          ...(!isOwn && { back_half_of: bitlink.id }),
        },
        notes: [...notes, ...clickNotes(bitlink.id, isOwn, total)],
      }),
    ]
  })
}

function clickNotes(id: string, isOwn: boolean, total: number | null): string[] {
  if (!isOwn) return [`Bitly counts its clicks with those of ${id}.`]
  if (total === null) return ['Bitly gave no clicks for this link.']
  return total === 0 ? [] : ['Bitly counts clicks by the day: so is its last click known.']
}

function refOf({ domain, key }: { domain: string; key: string }): string {
  return `${domain}/${key}`.slice(0, 500)
}

function pathOf(id: string): string {
  const { domain, key } = splitShortLink(id) ?? { domain: '', key: '' }
  return [domain, ...key.split('/')].map(encodeURIComponent).join('/')
}

const ESCAPES = /^(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/
/** What follows the quote that ends a string: the next value, a colon, or the end of an object or array. */
const AFTER_STRING = /^\s*(?:[:\]}]|,\s*["{[\d\-tfn]|$)/

/**
 * Repairs texts in JSON that a service did not escape: raw control characters, backslashes, and quotes. A
 * quote ends a text only where JSON can go on after it, so a text that imitates JSON stays ambiguous: callers
 * mark what they read from a repaired answer.
 */
export function repairJson(json: string): string {
  let repaired = ''
  let isInText = false
  for (let at = 0; at < json.length; at += 1) {
    const character = json.charAt(at)
    if (!isInText) {
      isInText = character === '"'
      repaired += character
    } else if (character === '\\') {
      const known = ESCAPES.exec(json.slice(at + 1, at + 6))?.[0]
      repaired += known === undefined ? '\\\\' : `\\${known}`
      at += known?.length ?? 0
    } else if (character === '"' && AFTER_STRING.test(json.slice(at + 1, at + 200))) {
      isInText = false
      repaired += character
    } else if (character === '"') {
      repaired += '\\"'
    } else {
      repaired += character < ' ' ? JSON.stringify(character).slice(1, -1) : character
    }
  }
  return repaired
}

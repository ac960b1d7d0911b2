import { z } from 'zod'
import { type ImportSource, ImportSourceFault } from '../../import-source.ts'
import type { TokenApiSettings } from '../../source-settings.ts'
import { microsOf } from './instants.ts'
import { type PagedList, readPages, type SourcePage } from './read-pages.ts'
import { repairJson } from './repair-json.ts'
import { type ApiDeps, SourceClient } from './source-client.ts'
import {
  countRecord,
  linkRecord,
  parseItem,
  refusedRecord,
  restOf,
  type SourceRecord,
  splitShortLink,
} from './source-records.ts'

const API_URL = 'https://api-ssl.bitly.com/v4'
const PAGE_SIZE = 100
const LIMITS = [
  { requests: 150, perMs: 60_000 },
  { requests: 1_500, perMs: 3_600_000 },
]
/** After so many links without clicks, the account's plan has none. */
const UNCOUNTED_MAX = 3

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
  archived: z.boolean().nullish(),
})
const totalSchema = z.object({ total_clicks: z.int().min(0) })
const daysSchema = z.object({
  link_clicks: z.array(z.object({ clicks: z.int().min(0), date: z.string() })),
})

type Bitlink = z.infer<typeof bitlinkSchema>
type Item = { readonly raw: unknown; readonly isRepaired: boolean }
type Cursor = { readonly group: string; readonly after: string | undefined }
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
      yield 'refused' in parsed ? parsed.refused : refusedRecord(place, 'id: no link', item.raw)
      return
    }
    const bitlink = parsed.item
    const total = skip === 0 ? await this.#totalOf(bitlink.id, signal) : undefined
    const links = linksOf(bitlink, { place, total: total ?? null, isRepaired: item.isRepaired })
    yield* links.slice(skip)
    if (total === 0 || total === null) return
    const days = await this.#daysOf(bitlink.id, signal)
    for (const [at, count] of days.slice(Math.max(0, skip - links.length))) {
      yield countRecord({ ref: refOf(main), at, interval: 'day', count })
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

  async #totalOf(id: string, signal: AbortSignal): Promise<number | null> {
    if (this.#hasNoClicks) return null
    const found = await this.#client.find({
      path: `/bitlinks/${pathOf(id)}/clicks/summary`,
      query: { unit: 'day', units: -1 },
      schema: totalSchema,
      signal,
    })
    this.#uncounted = found === undefined ? this.#uncounted + 1 : 0
    return found?.total_clicks ?? null
  }

  /** Returns the beginnings of days, oldest first, and their clicks. */
  async #daysOf(id: string, signal: AbortSignal): Promise<readonly (readonly [number, number])[]> {
    const found = await this.#client.find({
      path: `/bitlinks/${pathOf(id)}/clicks`,
      query: { unit: 'day', units: -1 },
      schema: daysSchema,
      signal,
    })
    return (found?.link_clicks ?? [])
      .flatMap(({ clicks, date }) => {
        const at = microsOf(date)
        return at === null || clicks === 0 ? [] : [[at, clicks] as const]
      })
      .sort(([a], [b]) => a - b)
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
  if (bitlink.archived) notes.push('It is archived at Bitly, where it still redirects.')
  if (isRepaired) {
    notes.push('Bitly sent this page with faults that were repaired: check the destination.')
  }
  const own = refOf(splitShortLink(bitlink.id) ?? { domain: '', key: '' })
  const links = [bitlink.id, ...(bitlink.custom_bitlinks ?? [])]
  const seen = new Set<string>()
  return links.flatMap((link): SourceRecord[] => {
    const place2 = splitShortLink(link)
    if (place2 === undefined) return [refusedRecord(place, 'custom_bitlinks: no link', link)]
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
        created_at: microsOf(bitlink.created_at),
        clicks: isOwn ? total : null,
        rest: {
          ...restOf(bitlink, [
            'id',
            'long_url',
            'custom_bitlinks',
            'tags',
            'created_at',
            'references',
          ]),
          ...(!isOwn && { back_half_of: bitlink.id }),
        },
        notes: [...notes, ...clickNotes(bitlink.id, isOwn, total)],
      }),
    ]
  })
}

function clickNotes(id: string, isOwn: boolean, total: number | null): string[] {
  if (!isOwn) return [`Bitly counts its clicks with those of ${id}.`]
  return total === null ? ['Bitly gave no clicks for this link.'] : []
}

function refOf({ domain, key }: { domain: string; key: string }): string {
  return `${domain}/${key}`.slice(0, 500)
}

function pathOf(id: string): string {
  const { domain, key } = splitShortLink(id) ?? { domain: '', key: '' }
  return [domain, ...key.split('/')].map(encodeURIComponent).join('/')
}

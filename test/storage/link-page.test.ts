import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { FullStore } from '../../src/app/database/stores.ts'
import { foldKey } from '../../src/links/key.ts'
import type { Link } from '../../src/links/link.ts'
import type { LinkQuery, LinkSortField } from '../../src/links/link-query.ts'
import { LINKS_PER_BUCKET } from '../../src/storage/schema.ts'
import { someClick } from '../support/clicks.ts'
import { cases } from '../support/properties.ts'
import { describeStore, type StoreUnderTest } from '../support/store.ts'
import { same } from './same.ts'
import { addHome, addKeyspace, type Home, insertLink, listOf, NOW, unique } from './samples.ts'

const SORT_FIELDS: readonly LinkSortField[] = [
  'created_at',
  'updated_at',
  'clicks',
  'last_click',
  'key',
]
/** How many links are created at the same time: few enough that a busy machine hits no time-out. */
const LINKS_PER_UNIT = 100
const TAGS = ['red', 'Red', 'Größe', '100%', 'a_b', 'back\\slash']

/** What happens to a workspace's links; `at` picks an existing one. */
type Step =
  | { readonly kind: 'create'; readonly key: string; readonly tags: readonly string[] }
  | { readonly kind: 'update'; readonly at: number; readonly tags: readonly string[] }
  | { readonly kind: 'click'; readonly at: number; readonly after: number }
  | { readonly kind: 'delete'; readonly at: number }
  /** Many links created and deleted again, so that buckets fill up and become empty. */
  | { readonly kind: 'crowd' }

const tags = fc.uniqueArray(fc.constantFrom(...TAGS), { maxLength: 3 })
const position = fc.nat(1_000)
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('create' as const),
      key: fc.constantFrom('Alpha', 'beta', 'ÄHRE', '50~x', 'a_b', 'z.Z'),
      tags,
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('update' as const), at: position, tags }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('click' as const), at: position, after: fc.nat(9) }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('delete' as const), at: position }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('crowd' as const) }) },
)
/** Steps in two workspaces, so that their links alternate in the sequence. */
const steps = fc.array(fc.record({ second: fc.boolean(), step }), { minLength: 1, maxLength: 30 })

/** A workspace and the links that it must have, in the order of creation. */
type Model = { readonly homes: readonly [Home, Home]; links: Link[] }

describeStore('pages of links', (at) => {
  test('equal those of a plain sorted list after any creations, changes and deletions', async () => {
    await fc.assert(
      fc.asyncProperty(steps, fc.integer({ min: 3, max: 9 }), async (all, limit) => {
        const models = [await newModel(at.store), await newModel(at.store)] as const
        for (const { second, step } of all) await apply(at, models[second ? 1 : 0], step)
        for (const model of models) await compare(at.store, model, limit)
      }),
      cases(8),
    )
  })

  test('are correct on both sides of every bucket boundary, in a list of thousands', async () => {
    const model = await newModel(at.store)
    const other = await newModel(at.store)
    const [home] = model.homes
    while (model.links.length < 2.5 * LINKS_PER_BUCKET) {
      const inserted = await at.store.write(async (stores) => {
        await insertLink(stores, other.homes[0])
        const links = []
        for (let count = 0; count < LINKS_PER_UNIT; count += 1) {
          links.push(await insertLink(stores, home))
        }
        return links
      })
      model.links.push(...inserted)
    }
    // Delete every third link of the first half, and then a whole range in the middle.
    const doomed = model.links.filter(
      (_, index) => (index < LINKS_PER_BUCKET && index % 3 === 0) || (index > 900 && index < 2_200),
    )
    for (let start = 0; start < doomed.length; start += LINKS_PER_UNIT) {
      await at.store.write(async (stores) => {
        for (const { workspace_id, id } of doomed.slice(start, start + LINKS_PER_UNIT)) {
          await stores.links.delete(workspace_id, id)
        }
      })
    }
    model.links = model.links.filter((link) => !doomed.includes(link))
    await compareList(at.store, model, listOf(home.workspace_id, { limit: 97 }))
    const sort = { field: 'created_at', descending: false } as const
    await compareList(at.store, model, listOf(home.workspace_id, { limit: 97, sort }))
  })

  test('are correct when read slice by slice, in a list of thousands', async () => {
    const model = await newModel(at.store)
    while (model.links.length < 2_400) {
      const inserted = await at.store.write(async (stores) => {
        const links = []
        for (let count = 0; count < LINKS_PER_UNIT; count += 1) {
          const number = model.links.length + count
          const tags = number % 5 === 0 ? ['red'] : []
          const values = {
            key: `${(number * 7_919) % 9_973}`,
            tags,
            updated_at: NOW + (number % 97),
          }
          links.push(await insertLink(stores, model.homes[number % 2 === 0 ? 0 : 1], values))
        }
        return links
      })
      model.links.push(...inserted)
    }
    const workspaceId = model.homes[0].workspace_id
    const hosts = [model.homes[1].domain]
    for (const field of ['created_at', 'updated_at', 'key'] as const) {
      for (const descending of [true, false]) {
        for (const filter of [{ hosts }, { search: '11' }, { search: 'RED' }, { tags: ['red'] }]) {
          const sort = { field, descending }
          await compareList(at.store, model, listOf(workspaceId, { limit: 400, sort, ...filter }))
        }
      }
    }
    const sort = { field: 'key', descending: true } as const
    await compareList(at.store, model, listOf(workspaceId, { limit: 100, sort }))
  })

  test('are read no further once the client has gone', async () => {
    const { links } = at.store.read
    const { workspace_id: workspaceId } = await addHome(at.store)
    const signal = AbortSignal.abort(new Error('gone'))
    const list = { ...listOf(workspaceId, { search: 'x' }), signal }
    await assert.rejects(links.page(list), /gone/)
    await assert.rejects(links.count(list), /gone/)
  })

  test('are empty past the end, and still return the total', async () => {
    const model = await newModel(at.store)
    const [{ workspace_id: workspaceId }] = model.homes
    same(await at.store.read.links.page(listOf(workspaceId)), { items: [], total: 0 })
    await apply(at, model, { kind: 'create', key: 'only', tags: [] })
    for (const offset of [1, 25, LINKS_PER_BUCKET, Number.MAX_SAFE_INTEGER]) {
      for (const search of [undefined, 'only']) {
        const query = listOf(workspaceId, { offset, search })
        same({ query, ...(await at.store.read.links.page(query)) }, { query, items: [], total: 1 })
      }
    }
  })

  test('return the counted total while two processes create and delete', async () => {
    const model = await newModel(at.store)
    const [home] = model.homes
    const stores = [at.store, (await at.another()).store] as const
    await Promise.all(
      Array.from({ length: 24 }, async (_, index) => {
        const store = stores[index % 2 === 0 ? 0 : 1]
        const link = await store.write((nouns) => insertLink(nouns, home))
        if (index % 3 === 0) {
          await stores[1].write((nouns) => nouns.links.delete(home.workspace_id, link.id))
        }
      }),
    )
    const page = await at.store.read.links.page(listOf(home.workspace_id, { limit: 100 }))
    assert.equal(page.items.length, 16)
    assert.equal(page.total, 16)
  })
})

async function newModel(store: FullStore): Promise<Model> {
  const home = await addHome(store)
  return { homes: [home, await addKeyspace(store, home.workspace_id)], links: [] }
}

async function apply({ store, take }: StoreUnderTest, model: Model, step: Step): Promise<void> {
  const home = model.homes[model.links.length % 2 === 0 ? 0 : 1]
  if (step.kind === 'create') {
    const key = unique(step.key)
    const link = { key, url: `https://example.com/Path?${key}`, tags: step.tags }
    model.links.push(await store.write((stores) => insertLink(stores, home, link)))
    return
  }
  if (step.kind === 'crowd') {
    await comeAndGo(store, home)
    return
  }
  const index = step.at % Math.max(1, model.links.length)
  const link = model.links[index]
  if (link === undefined) return
  if (step.kind === 'delete') {
    await store.write((stores) => stores.links.delete(link.workspace_id, link.id))
    model.links.splice(index, 1)
  } else if (step.kind === 'click') {
    const click = someClick({ link_seq: link.seq, at: NOW + step.after })
    await take([click])
    model.links[index] = {
      ...link,
      clicks: link.clicks + 1,
      last_click: Math.max(link.last_click ?? 0, click.at),
    }
  } else {
    const next = { ...link, tags: step.tags, updated_at: link.updated_at + 1 }
    await store.write((stores) => stores.links.update(next, link))
    model.links[index] = next
  }
}

/** Fills part of a bucket, and empties it. */
async function comeAndGo(store: FullStore, home: Home): Promise<void> {
  await store.write(async (stores) => {
    const links = []
    for (let count = 0; count < LINKS_PER_BUCKET / 16; count += 1) {
      links.push(await insertLink(stores, home))
    }
    for (const link of links) await stores.links.delete(link.workspace_id, link.id)
  })
}

/** Compares every page of every kind of list. */
async function compare(store: FullStore, model: Model, limit: number): Promise<void> {
  const workspaceId = model.homes[0].workspace_id
  for (const field of SORT_FIELDS) {
    for (const descending of [true, false]) {
      await compareList(store, model, listOf(workspaceId, { limit, sort: { field, descending } }))
    }
  }
  const filters: Partial<LinkQuery>[] = [
    { hosts: [model.homes[0].domain] },
    { hosts: ['nobody.example'] },
    { hosts: [model.homes[0].domain, model.homes[1].domain] },
    { tags: ['red'] },
    { tags: ['Größe'], hosts: [model.homes[1].domain] },
    { search: 'äHre' },
    { search: 'PATH?' },
    { search: '100%' },
    { search: '_b', sort: { field: 'key', descending: false } },
    { search: 'k\\S' },
    { search: 'größe', tags: ['red'] },
    { tags: ['red', 'Größe'] },
    { search: 'äHre', shortLink: { host: model.homes[1].domain, key: 'ALPHA' } },
    { shortLink: { host: model.homes[0].domain, key: 'beta' } },
  ]
  for (const filter of filters) {
    await compareList(store, model, listOf(workspaceId, { limit: 50, ...filter }))
  }
}

/** Compares every page of one list, and the empty one after the last. */
async function compareList(store: FullStore, model: Model, query: LinkQuery): Promise<void> {
  const expected = model.links.filter((link) => matches(link, query)).sort(orderOf(query))
  for (let offset = 0; offset <= expected.length; offset += query.limit) {
    const page = await store.read.links.page({ ...query, offset })
    const items = expected.slice(offset, offset + query.limit)
    // The query is included, so that a failure shows which list it was.
    same({ query, offset, ...page }, { query, offset, items, total: expected.length })
  }
  if (query.sort.field === 'created_at') await compareRuns(store, query, expected)
}

/** Compares every slice of one list, from beginning to end, and its length. */
async function compareRuns(
  store: FullStore,
  query: LinkQuery,
  expected: readonly Link[],
): Promise<void> {
  const { offset, sort, ...filter } = query
  assert.equal(await store.read.links.count(filter), expected.length)
  const walked: Link[] = []
  let beyond: number | undefined
  do {
    const run = { ...filter, descending: sort.descending, beyond }
    const { items, rest } = await store.read.links.run(run)
    walked.push(...items)
    beyond = rest
  } while (beyond !== undefined)
  same({ query, walked }, { query, walked: expected })
}

function matches(link: Link, { hosts, tags = [], search, shortLink }: LinkQuery): boolean {
  const isAt =
    shortLink !== undefined &&
    link.domain === shortLink.host &&
    foldKey(link.key) === foldKey(shortLink.key)
  const texts = [link.key, link.url, ...link.tags].map(foldKey)
  return (
    (hosts === undefined || hosts.includes(link.domain)) &&
    tags.every((tag) => link.tags.includes(tag)) &&
    ((search === undefined && shortLink === undefined) ||
      isAt ||
      (search !== undefined && texts.some((text) => text.includes(foldKey(search)))))
  )
}

function orderOf({ sort }: LinkQuery): (a: Link, b: Link) => number {
  const sign = sort.descending ? -1 : 1
  // Equal links are sorted by age, in the same direction.
  const age = (a: Link, b: Link) => a.seq - b.seq
  const { field } = sort
  if (field === 'created_at') return (a, b) => sign * age(a, b)
  if (field === 'key') {
    return (a, b) => sign * (Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)) || age(a, b))
  }
  return (a, b) => sign * ((a[field] ?? -1) - (b[field] ?? -1) || age(a, b))
}

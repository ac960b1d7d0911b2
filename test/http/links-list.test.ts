import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Answer, type Api, expectStatus } from '../support/api.ts'
import { expectInvalid } from '../support/expect-invalid.ts'
import { createLink, LINK_FIELDS, listedKeys, showLink } from '../support/links.ts'
import { onEachEngine, onSqlite } from '../support/on-each-engine.ts'

const META_FIELDS = [
  'current_page',
  'from',
  'to',
  'last_page',
  'per_page',
  'total',
  'path',
  'links',
]

/** Creates links one after the other; returns their keys, oldest first. */
async function createLinks(api: Api, name: string, count: number): Promise<string[]> {
  const keys = Array.from({ length: count }, (_, index) => `${name}-${index + 1}`)
  for (const key of keys) await createLink(api, { key })
  return keys
}

async function list(api: Api, query = ''): Promise<Answer['body']> {
  return expectStatus(await api.get(`/links${query}`), 200).body
}

onEachEngine('GET /api/v1/links', (stage) => {
  test('returns one empty page for an empty workspace', async () => {
    const api = await stage.service.api('empty')
    const path = `http://localhost:${stage.service.port}/api/v1/links`
    const only = `${path}?page=1`
    assert.deepEqual(await list(api), {
      data: [],
      links: { first: only, last: only, prev: null, next: null },
      meta: {
        current_page: 1,
        from: null,
        to: null,
        last_page: 1,
        per_page: 25,
        total: 0,
        path,
        links: [
          { url: null, label: 'Previous', active: false },
          { url: only, label: '1', active: true },
          { url: null, label: 'Next', active: false },
        ],
      },
    })
  })

  test('returns a middle page with every field of the envelope', async () => {
    const api = await stage.service.api('middle')
    await createLinks(api, 'middle', 5)
    const path = `http://localhost:${stage.service.port}/api/v1/links`
    const page = (number: number) => `${path}?per_page=2&page=${number}`
    const body = await list(api, '?page=2&per_page=2')
    assert.deepEqual(Object.keys(body), ['data', 'links', 'meta'])
    assert.deepEqual(Object.keys(body.links), ['first', 'last', 'prev', 'next'])
    assert.deepEqual(Object.keys(body.meta), META_FIELDS)
    assert.equal(body.data.length, 2)
    assert.deepEqual(body.links, { first: page(1), last: page(3), prev: page(1), next: page(3) })
    assert.deepEqual(body.meta, {
      current_page: 2,
      from: 3,
      to: 4,
      last_page: 3,
      per_page: 2,
      total: 5,
      path,
      links: [
        { url: page(1), label: 'Previous', active: false },
        { url: page(1), label: '1', active: false },
        { url: page(2), label: '2', active: true },
        { url: page(3), label: '3', active: false },
        { url: page(3), label: 'Next', active: false },
      ],
    })
  })

  test('returns whole links, as GET of each returns them', async () => {
    const api = await stage.service.api('whole')
    const { id } = await createLink(api, { tags: ['a', 'b'], external_id: 7, password: 'secret' })
    const { data } = await list(api)
    assert.deepEqual(Object.keys(data[0]), [...LINK_FIELDS])
    assert.deepEqual(data, [await showLink(api, id)])
  })

  test('returns 25 links a page, newest first, by default', async () => {
    const api = await stage.service.api('ordered')
    const keys = await createLinks(api, 'ordered', 27)
    const newestFirst = keys.toReversed()

    assert.deepEqual(await listedKeys(api, ''), newestFirst.slice(0, 25))
    assert.deepEqual(await listedKeys(api, '?page=1'), newestFirst.slice(0, 25))
    assert.deepEqual(await listedKeys(api, '?page=2'), newestFirst.slice(25))
    assert.deepEqual(await listedKeys(api, '?per_page=100'), newestFirst)
    assert.deepEqual(await listedKeys(api, '?per_page=1&page=27'), newestFirst.slice(26))
    const { meta } = await list(api)
    assert.deepEqual(
      [meta.per_page, meta.last_page, meta.total, meta.from, meta.to],
      [25, 2, 27, 1, 25],
    )
  })

  test('returns nothing of another workspace', async () => {
    await createLink(await stage.service.api('theirs'), { key: 'theirs' })
    const api = await stage.service.api('mine')
    await createLink(api, { key: 'mine' })
    assert.deepEqual(await listedKeys(api, ''), ['mine'])
    assert.deepEqual(await listedKeys(api, '?search=theirs&domain=localhost'), [])
    assert.equal((await list(api)).meta.total, 1)
  })

  test('returns 422 on the parameter for an invalid page or size', async () => {
    for (const value of ['0', '-1', 'abc', '1.5', '1e3', '+1', ' 1', '', '0x10', '10'.repeat(20)]) {
      const sent = encodeURIComponent(value)
      expectInvalid(await stage.api.get(`/links?page=${sent}`), 'page')
      expectInvalid(await stage.api.get(`/links?per_page=${sent}`), 'per_page')
    }
    expectInvalid(await stage.api.get(`/links?page=1${'0'.repeat(40)}`), 'page')
    expectInvalid(await stage.api.get('/links?page=1&page=2'), 'page')
    expectInvalid(await stage.api.get('/links?per_page=101'), 'per_page')
    expectInvalid(await stage.api.get('/links?page=0&per_page=0'), 'page', 'per_page')
    for (const size of [1, 100])
      assert.equal((await list(stage.api, `?per_page=${size}`)).meta.per_page, size)
  })

  test('returns an empty page past the end, with a link back', async () => {
    const api = await stage.service.api('far')
    await createLinks(api, 'far', 3)
    for (const page of [3, 1_000_000_000, Number.MAX_SAFE_INTEGER]) {
      const { data, links, meta } = await list(api, `?per_page=2&page=${page}`)
      assert.deepEqual(data, [])
      assert.deepEqual(
        [meta.current_page, meta.from, meta.to, meta.last_page, meta.total],
        [page, null, null, 2, 3],
      )
      assert.equal(links.prev, links.last)
      assert.equal(links.next, null)
      assert.ok(meta.links.every((link: { active: boolean }) => !link.active))
    }
  })
})

onSqlite('the URLs in a list', (stage) => {
  /** Every URL of an envelope, without nulls. */
  function urlsOf({ links, meta }: Answer['body']): URL[] {
    const labels = meta.links.map((link: { url: string | null }) => link.url)
    return [...Object.values(links), ...labels]
      .filter((url) => url !== null)
      .map((url) => new URL(url))
  }

  for (const [what, query, expected] of [
    [
      'filters, size and order',
      'search=a&per_page=1&sort=key',
      { search: 'a', per_page: '1', sort: 'key' },
    ],
    [
      'characters that must be encoded',
      'search=a%26b%23%25&per_page=1',
      { search: 'a&b#%', per_page: '1' },
    ],
    ['other scripts', 'search=%D0%BF%D1%80&per_page=1', { search: 'пр', per_page: '1' }],
    [
      'a question mark, which is valid in a query',
      'search=a?b&per_page=1',
      { search: 'a?b', per_page: '1' },
    ],
  ] as const) {
    test(`keep the other parameters: ${what}`, async () => {
      const body = await list(stage.api, `?${query}&page=1`)
      for (const url of urlsOf(body)) {
        const { page, ...kept } = Object.fromEntries(url.searchParams)
        assert.match(page ?? '', /^\d+$/)
        assert.deepEqual(kept, expected, url.href)
        assert.equal(url.searchParams.getAll('page').length, 1)
      }
      assert.ok(!body.meta.path.includes('?'))
    })
  }

  test('lead through the whole list, each link once, forwards and backwards', async () => {
    const api = await stage.service.api('walking')
    const keys = await createLinks(api, 'walking', 7)
    await createLink(api, { key: 'not-found-by-the-search' })
    const base = `http://localhost:${stage.service.port}/api/v1`

    async function walk(query: string, direction: 'next' | 'prev'): Promise<string[]> {
      const seen: string[] = []
      for (let path: string | null = query; path !== null; ) {
        const body: Answer['body'] = expectStatus(await api.get(path), 200).body
        seen.push(...body.data.map((link: { key: string }) => link.key))
        path = body.links[direction]?.slice(base.length) ?? null
      }
      return seen
    }

    const first = '/links?search=walking&per_page=3&sort=created_at'
    assert.deepEqual(await walk(first, 'next'), keys)
    const { links } = await list(api, '?search=walking&per_page=3&sort=created_at')
    const backwards = await walk(links.last.slice(base.length), 'prev')
    assert.deepEqual(backwards, [...keys.slice(6), ...keys.slice(3, 6), ...keys.slice(0, 3)])
  })
})

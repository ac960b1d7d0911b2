import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { expectStatus } from '../support/api.ts'
import { expectInvalid } from '../support/expect-invalid.ts'
import { createLink, listedKeys } from '../support/links.ts'
import { onEachEngine } from '../support/on-each-engine.ts'

/** Names and values of parameters; a list where one is sent several times. */
type Query = Record<string, string> | readonly (readonly [string, string])[]

/** The links that every filter selects from, referred to by key below. */
const LINKS = [
  {
    key: 'Alpha',
    url: 'https://shop.example.com/Summer',
    tags: ['Sale', '100%'],
    ...{ path: 'append', query: 'drop', ios: 'https://example.com/ios' },
  },
  { key: 'alpine_hut', url: 'https://example.com/winter', tags: ['sale', '100 percent'] },
  { key: 'alpineXhut', url: 'https://example.com/50%25off', tags: ['C:\\temp'] },
  {
    ...{ key: 'Été', url: 'https://example.com/?q=summer', tags: ['Frühling'] },
    active_from: '2999-01-01T00:00:00Z',
  },
  {
    key: 'beta',
    url: 'https://example.org/',
    tags: [],
    domain: 'go.localhost',
    expires_at: '2020-01-01T00:00:00Z',
    password: 'sesame',
    notes: 'On the flyer of Märkisch',
    max_clicks: 5,
    title: 'Sale',
  },
  {
    key: 'gamma',
    url: 'https://example.org/',
    tags: ['Sale'],
    domain: 'go.localhost',
    expires_at: '9999-12-31T23:59:59.999999Z',
    password: 'sesame',
  },
  {
    key: 'delta',
    url: 'https://example.org/',
    tags: [],
    domain: 'later.example.com',
    external_id: 42,
  },
  {
    key: 'öl',
    url: 'https://example.org/',
    tags: [],
    domain: 'münchen.example.com',
    external_id: -7,
  },
  { key: 'Beta', url: 'https://example.org/upper', tags: ['Upper'], domain: 'go.localhost' },
  {
    key: 'beta',
    url: 'https://example.org/elsewhere',
    tags: [],
    domain: 'later.example.com',
    external_id: 42,
  },
]

const SCENARIOS: readonly { query: Query; found: readonly string[] }[] = [
  { query: { search: 'alpha' }, found: ['Alpha'] },
  { query: { search: 'ALP' }, found: ['Alpha', 'alpine_hut', 'alpineXhut'] },
  { query: { search: 'été' }, found: ['Été'] },
  { query: { search: 'FLYER of mä' }, found: ['beta'] },
  { query: { does: 'limit,preview,notes' }, found: ['beta'] },
  { query: { does: 'rules' }, found: ['alpine_hut', 'alpineXhut'] },
  { query: { does: 'rules,splits' }, found: ['alpineXhut'] },
  { query: { does: 'expires,password' }, found: ['beta', 'gamma'] },
  { query: { does: 'starts' }, found: ['Été'] },
  { query: { does: 'path' }, found: ['Alpha'] },
  { query: { does: 'query,targets' }, found: ['Alpha'] },
  { query: { does: 'rule_set' }, found: [] },
  { query: { search: 'E\u0301TE\u0301' }, found: ['Été'] },
  { query: { search: 'summer' }, found: ['Alpha', 'Été'] },
  { query: { search: 'SHOP.example' }, found: ['Alpha'] },
  { query: { search: '?q=' }, found: ['Été'] },
  { query: { search: 'FRÜHL' }, found: ['Été'] },
  { query: { search: 'sale' }, found: ['Alpha', 'alpine_hut', 'gamma'] },
  { query: { search: '100%' }, found: ['Alpha'] },
  { query: { search: '%' }, found: ['Alpha', 'alpineXhut'] },
  { query: { search: 'alpine_hut' }, found: ['alpine_hut'] },
  { query: { search: '_' }, found: ['alpine_hut'] },
  { query: { search: '\\' }, found: ['alpineXhut'] },
  { query: { search: "'" }, found: [] },
  { query: { search: 'nothing' }, found: [] },

  { query: { tag: 'Sale' }, found: ['Alpha', 'gamma'] },
  { query: { tag: 'sale' }, found: ['alpine_hut'] },
  { query: { tag: 'Sal' }, found: [] },
  { query: { tag: '100%' }, found: ['Alpha'] },
  { query: { tag: 'C:\\temp' }, found: ['alpineXhut'] },

  {
    query: [
      ['tag', 'Sale'],
      ['tag', '100%'],
    ],
    found: ['Alpha'],
  },
  {
    query: [
      ['tag', 'Sale'],
      ['tag', 'sale'],
    ],
    found: [],
  },

  { query: { search: 'https://go.localhost/gamma' }, found: ['gamma'] },
  { query: { search: 'go.localhost/gamma' }, found: ['gamma'] },
  { query: { search: ' HTTP://GO.localhost:8080/GAMMA/?utm_source=mail#top ' }, found: ['gamma'] },
  { query: { search: 'localhost/%C3%89t%C3%A9?qr=1' }, found: ['Été'] },
  { query: { search: 'localhost/Été' }, found: ['Été'] },
  { query: { search: 'https://münchen.example.com/öl' }, found: ['öl'] },
  { query: { search: 'xn--mnchen-3ya.example.com/%C3%B6l' }, found: ['öl'] },
  { query: { search: `go.localhost/gamma?x=${'y'.repeat(4_000)}` }, found: ['gamma'] },
  { query: { search: 'go.localhost/alpha-foreign' }, found: [] },
  { query: { search: 'localhost/alpha-foreign' }, found: [] },
  { query: { search: 'go.localhost/' }, found: [] },

  { query: { domain: 'localhost' }, found: ['Alpha', 'alpine_hut', 'alpineXhut', 'Été'] },
  { query: { domain: 'go.localhost' }, found: ['beta', 'gamma', 'Beta'] },
  { query: { domain: 'GO.LocalHost' }, found: ['beta', 'gamma', 'Beta'] },
  { query: { domain: 'later.example.com' }, found: ['delta', 'beta'] },
  { query: { domain: 'unknown.example.com' }, found: [] },
  {
    query: [
      ['domain', 'GO.localhost'],
      ['domain', 'later.example.com'],
      ['domain', 'unknown.example.com'],
    ],
    found: ['beta', 'gamma', 'delta', 'Beta', 'beta'],
  },
  {
    query: [
      ['domain', 'go.localhost'],
      ['domain', 'later.example.com'],
      ['key', 'beta'],
    ],
    found: ['beta', 'beta'],
  },

  { query: { url: 'https://example.org/' }, found: ['beta', 'gamma', 'delta', 'öl'] },
  { query: { url: 'HTTPS://EXAMPLE.org' }, found: ['beta', 'gamma', 'delta', 'öl'] },
  { query: { url: 'https://example.com/' }, found: [] },
  { query: { url: 'https://example.org/', tag: 'Sale' }, found: ['gamma'] },

  { query: { domain: 'go.localhost', key: 'beta' }, found: ['beta'] },
  { query: { domain: 'go.localhost', key: 'Beta' }, found: ['Beta'] },
  { query: { domain: 'go.localhost', key: 'BETA' }, found: [] },
  { query: { domain: 'GO.localhost.', key: 'beta', sort: 'clicks' }, found: ['beta'] },
  { query: { domain: 'münchen.example.com', key: 'o\u0308l' }, found: ['öl'] },
  { query: { domain: 'localhost', key: 'alpha-foreign' }, found: [] },
  { query: { domain: 'go.localhost', key: 'beta', tag: 'Sale' }, found: [] },
  { query: { domain: 'go.localhost', key: 'gamma', tag: 'Sale' }, found: ['gamma'] },
  { query: { domain: 'go.localhost', key: 'beta', search: 'upper' }, found: [] },
  { query: { domain: 'unknown.example.com', key: 'beta' }, found: [] },
  { query: { key: 'beta' }, found: ['beta', 'beta'] },
  { query: { key: 'beta', state: 'protected' }, found: ['beta'] },
  { query: { key: 'not a key' }, found: [] },
  { query: { external_id: '42' }, found: ['delta', 'beta'] },
  { query: { external_id: '42', key: 'beta' }, found: ['beta'] },
  { query: { external_id: '-7' }, found: ['öl'] },
  { query: { external_id: '43' }, found: [] },
  { query: { created_after: '2020-01-01T00:00:00+01:00', key: 'gamma' }, found: ['gamma'] },
  { query: { created_before: '2020-01-01T00:00:00Z' }, found: [] },

  { query: { state: 'expired' }, found: ['beta'] },
  {
    query: { state: 'active' },
    found: ['Alpha', 'alpine_hut', 'alpineXhut', 'Été', 'gamma', 'delta', 'öl', 'Beta', 'beta'],
  },
  { query: { state: 'protected' }, found: ['beta', 'gamma'] },
  {
    query: [
      ['state', 'active'],
      ['state', 'protected'],
    ],
    found: ['gamma'],
  },
  {
    query: [
      ['state', 'protected'],
      ['state', 'expired'],
    ],
    found: ['beta'],
  },
  {
    query: { state: 'protected', url: 'https://example.org/', sort: '-key' },
    found: ['beta', 'gamma'],
  },

  { query: { search: 'a', tag: 'Sale', domain: 'go.localhost' }, found: ['gamma'] },
  { query: { search: 'summer', tag: 'Sale' }, found: ['Alpha'] },
  { query: { search: 'summer', domain: 'go.localhost' }, found: [] },
]

onEachEngine('the filters of the link list', (stage) => {
  before(async () => {
    const then = { url: 'https://example.com/' }
    const split = ['A', 'B'].map((name) => ({ ...then, name, weight: 1 }))
    const rulesOf: Readonly<Record<string, readonly object[]>> = {
      alpine_hut: [{ name: '"split":[', when: { bot: true }, then }],
      alpineXhut: [{ when: {}, then: { split } }],
    }
    for (const link of LINKS) {
      const { id, key } = await createLink(stage.api, link)
      const rules = rulesOf[key] ?? []
      expectStatus(await stage.api.put(`/links/${id}/rules`, { rules }), 200)
    }
    const other = await stage.service.api('other')
    await createLink(other, { key: 'alpha-foreign', tags: ['Sale', 'Frühling'] })
  })

  for (const { query, found } of SCENARIOS) {
    test(`${JSON.stringify(query)} finds ${found.join(', ') || 'nothing'}`, async () => {
      const sent = `?${new URLSearchParams(query as Record<string, string>)}`
      assert.deepEqual(await listedKeys(stage.api, sent), found.toReversed())
      const { meta } = expectStatus(await stage.api.get(`/links${sent}&per_page=1`), 200).body
      assert.equal(meta.total, found.length)
      assert.equal(meta.last_page, Math.max(1, found.length))
    })
  }

  for (const [parameter, value] of [
    ['search', 'x'.repeat(201)],
    ['search', `https://other.example.com/${'x'.repeat(190)}?${'y'.repeat(50)}`],
    ['search', 'a\u0000b'],
    ['tag', 'x'.repeat(51)],
    ['domain', 'no host'],
    ['does', 'rules,nothing'],
    ['url', 'no destination'],
    ['state', 'disabled'],
    ['key', ''],
    ['external_id', 'abc'],
    ['external_id', '9007199254740992'],
    ['created_after', '2026-11-01'],
    ['created_before', '2026-11-01T00:00:00'],
    ['fields', 'id,nope'],
    ['fields', ''],
    ['sort', 'id'],
    ['sort', 'CREATED_AT'],
    ['sort', '--key'],
  ] as const) {
    test(`${parameter} returns 422 for ${JSON.stringify(value).slice(0, 30)}`, async () => {
      const sent = new URLSearchParams({ [parameter]: value })
      expectInvalid(await stage.api.get(`/links?${sent}`), parameter)
    })
  }

  test('returns 422 on the state for links that are both active and expired', async () => {
    expectInvalid(await stage.api.get('/links?state=active&state=expired'), 'state')
  })

  test('exports the links that match, the newest first', async () => {
    const path = '/links/export?domain=go.localhost&search=a&fields=key,protected'
    const answer = expectStatus(await stage.api.get(path), 200)
    assert.match(answer.headers.get('content-type') ?? '', /^text\/csv/)
    assert.match(answer.headers.get('content-disposition') ?? '', /links\.csv/)
    assert.equal(
      answer.body,
      '"key","protected"\r\n"Beta","false"\r\n"gamma","true"\r\n"beta","true"\r\n',
    )
    const all = expectStatus(await stage.api.get('/links/export?format=ndjson&fields=key'), 200)
    assert.equal(all.body.trimEnd().split('\n').length, LINKS.length)
  })

  test('a list by a key with a null character returns 422', async () => {
    expectInvalid(await stage.api.get('/links?key=a%00'), 'key')
  })

  for (const sent of ['fields=password', 'fields=', 'format=xml', 'state=disabled']) {
    test(`an export with ${sent} returns 422`, async () => {
      const [parameter = ''] = sent.split('=')
      expectInvalid(await stage.api.get(`/links/export?${sent}`), parameter)
    })
  }

  test('has each link in one of two periods that share an end', async () => {
    const { data } = expectStatus(await stage.api.get('/links?key=gamma'), 200).body
    const instant = data[0].created_at
    const later = await listedKeys(stage.api, `?created_after=${instant}`)
    const earlier = await listedKeys(stage.api, `?created_before=${instant}`)
    assert.equal(later.at(-1), 'gamma')
    assert.deepEqual([...later, ...earlier], LINKS.map(({ key }) => key).toReversed())
    const day = encodeURIComponent('2100-01-01T00:00:00+01:00')
    const exported = await stage.api.get(`/links/export?created_after=${day}&fields=key`)
    assert.equal(expectStatus(exported, 200).body, '"key"\r\n')
  })

  test('walks links with an external id and with a key by cursor', async () => {
    for (const [condition, keys] of [
      ['external_id=42', ['beta', 'delta']],
      ['key=beta', ['beta', 'beta']],
    ] as const) {
      const path = `/links?${condition}&per_page=1`
      const first = expectStatus(await stage.api.get(`${path}&cursor=`), 200).body
      const next = `${path}&cursor=${encodeURIComponent(first.meta.next_cursor)}`
      const second = expectStatus(await stage.api.get(next), 200).body
      assert.deepEqual([first.data[0].key, second.data[0].key], keys)
      assert.notEqual(first.data[0].id, second.data[0].id)
      assert.equal(second.meta.next_cursor, null)
    }
  })

  test('exports the link at an address', async () => {
    const path = '/links/export?domain=go.localhost&key=Beta&fields=url'
    const { body } = expectStatus(await stage.api.get(path), 200)
    assert.equal(body, '"url"\r\n"https://example.org/upper"\r\n')
  })

  test('returns only the fields that are named, in their order', async () => {
    for (const more of ['', '&cursor=']) {
      const path = `/links?domain=go.localhost&fields=url,key${more}`
      const { data } = expectStatus(await stage.api.get(path), 200).body
      assert.equal(
        JSON.stringify(data[0]),
        JSON.stringify({ url: 'https://example.org/upper', key: 'Beta' }),
      )
    }
  })

  test('reads a list in a state with a cursor', async () => {
    const first = expectStatus(
      await stage.api.get('/links?state=protected&cursor=&per_page=1'),
      200,
    ).body
    assert.deepEqual([first.data[0].key, first.meta.total], ['gamma', 2])
    const sent = new URLSearchParams({ state: 'protected', cursor: first.meta.next_cursor })
    assert.deepEqual(await listedKeys(stage.api, `?${sent}`), ['beta'])
  })
})

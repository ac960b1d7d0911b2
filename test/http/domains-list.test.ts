import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Api, expectStatus } from '../support/api.ts'
import { SQLITE } from '../support/engines.ts'
import { UNKNOWN_ID } from '../support/operations.ts'
import { expectProblem } from '../support/problems.ts'
import { type Service, startService } from '../support/service.ts'
import { DOMAIN_FIELDS } from './domain-fields.ts'

const TOTAL = 27

describe('GET /api/v1/domains', () => {
  let service: Service
  let api: Api
  before(async () => {
    service = await startService(SQLITE)
    api = await service.api()
    for (let index = 1; index <= TOTAL; index += 1) {
      await api.post('/domains', { domain: `d${index}.acme.test` })
    }
  })
  after(() => service.stop())

  const path = () => `http://localhost:${service.port}/api/v1/domains`

  test('returns one empty page for a workspace without domains', async () => {
    const { body } = expectStatus(await (await service.api('empty')).get('/domains'), 200)
    const only = `${path()}?page=1`
    assert.deepEqual(body, {
      data: [],
      links: { first: only, last: only, prev: null, next: null },
      meta: {
        current_page: 1,
        from: null,
        to: null,
        last_page: 1,
        per_page: 25,
        total: 0,
        path: path(),
        links: [
          { url: null, label: 'Previous', active: false },
          { url: only, label: '1', active: true },
          { url: null, label: 'Next', active: false },
        ],
      },
    })
  })

  test('returns the domain with a name, in any spelling, and none for an unknown one', async () => {
    const other = await service.api('namesake')
    expectStatus(await other.post('/domains', { domain: 'foreign.acme.test' }), 201)
    for (const [name, hosts] of [
      ['d3.acme.test', ['d3.acme.test']],
      ['D3.Acme.TEST.', ['d3.acme.test']],
      ['foreign.acme.test', []],
      ['d99.acme.test', []],
    ] as const) {
      for (const more of ['', '&cursor=', '&per_page=1']) {
        const { body } = expectStatus(await api.get(`/domains?domain=${name}${more}`), 200)
        const found = body.data.map((item: { domain: string }) => item.domain)
        assert.deepEqual([found, body.meta.total], [hosts, hosts.length])
      }
    }
    expectProblem(await api.get('/domains?domain=no%20host'), 'validation_failed', ['domain'])
  })

  test('returns 25 domains by default, newest first, each with its 8 fields', async () => {
    const { body } = expectStatus(await api.get('/domains'), 200)
    assert.deepEqual(Object.keys(body), ['data', 'links', 'meta'])
    const hosts = body.data.map((item: { domain: string }) => item.domain)
    assert.deepEqual(
      hosts,
      Array.from({ length: 25 }, (_, index) => `d${TOTAL - index}.acme.test`),
    )
    for (const item of body.data) assert.deepEqual(Object.keys(item), DOMAIN_FIELDS)
    assert.deepEqual([body.meta.total, body.meta.last_page], [TOTAL, 2])
    assert.equal(body.links.next, `${path()}?page=2`)
  })

  test('returns the requested page, and keeps per_page in its URLs', async () => {
    const { body } = expectStatus(await api.get('/domains?per_page=10&page=3'), 200)
    const page = (number: number) => `${path()}?per_page=10&page=${number}`
    assert.deepEqual(body.links, { first: page(1), last: page(3), prev: page(2), next: null })
    const { links, ...meta } = body.meta
    assert.deepEqual(meta, {
      current_page: 3,
      from: 21,
      to: 27,
      last_page: 3,
      per_page: 10,
      total: TOTAL,
      path: path(),
    })
    assert.deepEqual(links, [
      { url: page(2), label: 'Previous', active: false },
      { url: page(1), label: '1', active: false },
      { url: page(2), label: '2', active: false },
      { url: page(3), label: '3', active: true },
      { url: null, label: 'Next', active: false },
    ])
    assert.equal(body.data.at(-1).domain, 'd1.acme.test')
  })

  test('returns an empty page past the end', async () => {
    const { body } = expectStatus(await api.get('/domains?page=1000000000'), 200)
    assert.deepEqual(body.data, [])
    assert.deepEqual([body.meta.from, body.meta.to, body.meta.total], [null, null, TOTAL])
  })

  for (const [query, field] of [
    ['page=0', 'page'],
    ['page=-1', 'page'],
    ['page=1.5', 'page'],
    ['page=two', 'page'],
    ['page=', 'page'],
    [`page=1${'0'.repeat(40)}`, 'page'],
    ['page=1&page=2', 'page'],
    ['per_page=0', 'per_page'],
    ['per_page=101', 'per_page'],
  ] as const) {
    test(`returns 422 for ?${query}`, async () => {
      expectProblem(await api.get(`/domains?${query}`), 'validation_failed', [field])
    })
  }

  test('returns one domain exactly as the list does', async () => {
    const [first] = (await api.get('/domains?per_page=1')).body.data
    assert.deepEqual(expectStatus(await api.get(`/domains/${first.id}`), 200).body, first)
    for (const id of [UNKNOWN_ID, 'none', '%20', `${first.id}0`]) {
      expectProblem(await api.get(`/domains/${id}`), 'not_found')
    }
  })
})

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { SQLITE } from '../support/engines.ts'
import { type Service, startService } from '../support/service.ts'
import { type VisitAnswer, visit } from '../support/visit.ts'

type Expected = {
  readonly path: string
  readonly status: number
  readonly type: string | undefined
  check(answer: VisitAnswer): void
}

const SCENARIOS: readonly Expected[] = [
  {
    path: '/livez',
    status: 200,
    type: 'application/json; charset=utf-8',
    check: ({ body }) => assert.deepEqual(JSON.parse(body), { status: 'ok' }),
  },
  {
    path: '/readyz',
    status: 200,
    type: 'application/json; charset=utf-8',
    check: ({ body }) =>
      assert.deepEqual(JSON.parse(body), {
        status: 'ok',
        roles: { redirect: 'ok', api: 'ok', jobs: 'ok' },
        lost_clicks: 0,
        damaged_files: [],
        data_folder_fault: null,
        journal_fault: null,
        clicks_fault: null,
        is_disk_low: false,
        doubtful_clicks: 0,
        counted_until: null,
      }),
  },
  {
    path: '/robots.txt',
    status: 200,
    type: 'text/plain; charset=utf-8',
    check: ({ body }) => {
      assert.ok(
        body.endsWith('User-agent: *\nAllow: /assets/images/\nAllow: /oembed?\nDisallow: /\n'),
      )
      const [ofPreviews = ''] = body.split('\n\n')
      const refused = ['/api/', '/app$', '/app/', '/docs$', '/docs/']
      assert.deepEqual(
        [...ofPreviews.matchAll(/^Disallow: (.*)$/gm)].map(([, rule]) => rule),
        refused,
      )
      assert.match(body, /User-agent: Twitterbot\n/)
    },
  },
  {
    path: '/favicon.ico',
    status: 204,
    type: undefined,
    check: ({ headers }) => assert.match(headers['cache-control'] ?? '', /max-age=\d+/),
  },
  {
    path: '/',
    status: 302,
    type: undefined,
    check: ({ headers }) => assert.equal(headers.location, '/app'),
  },
]

describe('paths that the service answers on its own host', () => {
  let service: Service
  before(async () => {
    service = await startService(SQLITE)
  })
  after(() => service.stop())

  for (const { path, status, type, check } of SCENARIOS) {
    test(`GET ${path} returns ${status}, and HEAD the same without a body`, async () => {
      const answer = await visit(service.port, path)
      assert.equal(answer.status, status)
      assert.equal(answer.headers['content-type'], type)
      check(answer)
      const head = await visit(service.port, path, { method: 'HEAD' })
      assert.equal(head.status, status)
      assert.equal(head.headers['content-type'], type)
      assert.equal(head.body, '')
    })

    test(`GET ${path} is answered on an IP address too, and not on a host of links`, async () => {
      for (const host of ['127.0.0.1', '[::1]', `LOCALHOST.:${service.port}`]) {
        assert.equal((await visit(service.port, path, { host })).status, status, host)
      }
      const elsewhere = await visit(service.port, path, { host: 'go.acme.test' })
      assert.equal(elsewhere.status, 404)
      assert.match(elsewhere.headers['content-type'] ?? '', /^text\/html/)
    })
  }

  test('no link on the service’s own host can replace them', async () => {
    const api = await service.api()
    const keys = ['api', 'API/x', 'docs', 'livez', 'readyz', 'Robots.txt', 'favicon.ico', 'app']
    for (const key of [...keys, 'assets/x', '.well-known/x']) {
      const link = { domain: 'localhost', key, url: 'https://example.com/' }
      const answer = await api.post('/links', link)
      assert.equal(answer.status, 422, key)
      assert.deepEqual(Object.keys(answer.body.errors), ['key'])
    }
    const elsewhere = { domain: 'go.localhost', key: 'docs', url: 'https://example.com/docs' }
    assert.equal((await api.post('/links', elsewhere)).status, 201)
    const answer = await visit(service.port, '/docs', { host: 'go.localhost' })
    assert.equal(answer.headers.location, 'https://example.com/docs')
  })
})

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { apiClient, expectStatus } from '../support/api.ts'
import { ENGINES, SQLITE } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { skipWithout } from '../support/programs.ts'
import { numberOf, openPromtool } from '../support/prometheus.ts'
import { RawConnection } from '../support/raw-http.ts'
import { type Service, startService } from '../support/service.ts'
import { visit } from '../support/visit.ts'

const ANSWER_MS_MAX = 20_000

for (const engine of ENGINES) {
  describe(`the metrics on ${engine.title}`, () => {
    let service: Service
    before(async () => {
      service = await startService(engine)
    })
    after(() => service.stop())

    async function scrape(): Promise<string> {
      const { status, headers, body } = await visit(service.port, '/metrics')
      assert.equal(status, 200)
      assert.match(headers['content-type'] ?? '', /^text\/plain; version=0\.0\.4/)
      return body
    }

    test('count visits by outcome and duration, on the fast path and through Node’s server', async () => {
      const api = apiClient(service.baseUrl, await service.token())
      const link = { domain: 'localhost', key: 'known', url: 'https://example.com/' }
      expectStatus(await api.post('/links', link), 201)
      const before = await scrape()
      const fast = await RawConnection.open(service.port)
      for (const [path, status] of [
        ['/known', 302],
        ['/known', 302],
        ['/unknown', 404],
      ] as const) {
        fast.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nUser-Agent: Test\r\n\r\n`)
        assert.equal((await fast.nextAnswer(ANSWER_MS_MAX))?.status, status)
      }
      fast.destroy()
      // These requests close their connection, and so go through Node’s HTTP server.
      await visit(service.port, '/known')
      await visit(service.port, '/known', { method: 'HEAD' })
      await visit(service.port, '/known', { method: 'DELETE' })
      await visit(service.port, '/known', { host: 'unknown.localhost' })

      await eventually(async () => {
        const now = await scrape()
        assert.equal(grown(before, now, 'terse_clicks_drained_total'), 4)
        const outcome = (name: string) =>
          grown(before, now, 'terse_visits_total', { outcome: name })
        assert.equal(outcome('redirected'), 4)
        assert.equal(outcome('not_found'), 1)
        assert.equal(outcome('unknown_host'), 1)
        assert.equal(outcome('method_refused'), 1)
        assert.equal(outcome('failed'), 0)
        assert.equal(grown(before, now, 'terse_visit_duration_seconds_count'), 7)
        assert.equal(grown(before, now, 'terse_visit_duration_seconds_bucket', { le: '+Inf' }), 7)
        assert.ok((grown(before, now, 'terse_visit_duration_seconds_sum') ?? 0) > 0)
        assert.equal(grown(before, now, 'terse_clicks_recorded_total'), 4)
        assert.equal(numberOf(now, 'terse_journal_backlog_bytes'), 0)
        assert.equal(numberOf(now, 'terse_journal_backlog_age_seconds'), 0)
        const links = (result: string) =>
          grown(before, now, 'terse_cache_lookups_total', { cache: 'links', result })
        // Five visits have a key on a known host. At least the first visit of each key is a miss;
        // reading a change from the log again adds one more.
        const [hits = 0, misses = 0] = [links('hit'), links('miss')]
        assert.ok(hits >= 1 && misses >= 2, `${hits} hits, ${misses} misses`)
        assert.equal(hits + misses + (links('absent') ?? 0), 5)
      })
    })

    test('count API requests by route, and reveal no link, token or visitor', async () => {
      const token = await service.token()
      const api = apiClient(service.baseUrl, token)
      const link = { domain: 'localhost', key: 'secret-key', url: 'https://secret.example/' }
      const { id } = expectStatus(await api.post('/links', link), 201).body
      await api.get(`/links/${id}`)
      await api.get('/links/no-such-id')
      await api.get('/nothing/here')
      const text = await scrape()
      const route = { method: 'GET', route: '/api/v1/links/:id' }
      assert.equal(numberOf(text, 'terse_api_requests_total', { ...route, status: '200' }), 1)
      assert.equal(numberOf(text, 'terse_api_requests_total', { ...route, status: '404' }), 1)
      assert.doesNotMatch(text, /secret|nothing/)
      assert.ok(!text.includes(token) && !text.includes(id))
    })

    test('report domains, connections and the change log', async () => {
      const text = await eventually(async () => {
        const text = await scrape()
        assert.ok((numberOf(text, 'terse_change_log_lag_seconds') ?? 9) < 5)
        // A job of the node holds one for a moment now and then.
        const pool = { pool: 'requests', state: 'used' }
        const used = numberOf(text, 'terse_database_connections', pool)
        assert.equal(used, engine.name === 'PostgreSQL' ? 0 : undefined)
        return text
      })
      assert.equal(numberOf(text, 'terse_database_up'), 1)
      assert.match(text, /^# TYPE terse_domains gauge$/m)
    })

    test('pass Prometheus’s own check', { skip: skipWithout('promtool') }, async () => {
      openPromtool().run(['check', 'metrics'], await scrape())
    })
  })
}

/** By how much a metric rose, starting at 0 if it did not exist. */
function grown(before: string, now: string, ...metric: [string, Record<string, string>?]): number {
  return (numberOf(now, ...metric) ?? Number.NaN) - (numberOf(before, ...metric) ?? 0)
}

describe('access to /metrics', () => {
  const expectStatuses = async (
    settings: Record<string, string>,
    requests: readonly (readonly [headers: Record<string, string>, status: number])[],
  ) => {
    const service = await startService(SQLITE, settings)
    try {
      for (const [headers, status] of requests) {
        const answer = await visit(service.port, '/metrics', { headers })
        assert.equal(answer.status, status, JSON.stringify(headers))
        if (status === 404) assert.equal(JSON.parse(answer.body).code, 'not_found')
      }
    } finally {
      await service.stop()
    }
  }

  test('is allowed from this machine, except through a proxy on it', () =>
    expectStatuses({}, [
      [{}, 200],
      [{ 'x-forwarded-for': '127.0.0.1' }, 404],
      [{ 'x-real-ip': '198.51.100.7' }, 404],
      [{ forwarded: 'for=127.0.0.1' }, 404],
      [{ via: '1.1 proxy' }, 404],
    ]))

  test('depends on the visitor’s address behind a trusted proxy', () =>
    expectStatuses({ TERSE_TRUST_PROXY: '127.0.0.1', TERSE_METRICS_FROM: '10.1.0.0/16' }, [
      [{}, 404],
      [{ 'x-forwarded-for': '10.1.2.3' }, 200],
      [{ 'x-forwarded-for': '10.1.2.3, 198.51.100.7' }, 404],
      [{ 'x-forwarded-for': '198.51.100.7' }, 404],
    ]))
})

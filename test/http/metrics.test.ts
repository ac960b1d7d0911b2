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

const ANSWER_MS_MAX = 5_000

for (const engine of ENGINES) {
  describe(`the metrics on ${engine.name}`, () => {
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

    test('count visits by outcome, on the fast way and on the other, and how long they took', async () => {
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
      // These say that they close, and so go through Node's HTTP server.
      await visit(service.port, '/known')
      await visit(service.port, '/known', { method: 'HEAD' })
      await visit(service.port, '/known', { method: 'DELETE' })
      await visit(service.port, '/known', { host: 'nobody.localhost' })

      const now = await eventually(async () => {
        const text = await scrape()
        assert.equal(grown(before, text, 'terse_clicks_drained_total'), 4)
        return text
      })
      const outcome = (name: string) => grown(before, now, 'terse_visits_total', { outcome: name })
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
      // Of the five visits with a key on a known host, the first of each key is a miss at least; a
      // change that is read from the log once more makes one more.
      const [hits = 0, misses = 0] = [links('hit'), links('miss')]
      assert.ok(hits >= 1 && misses >= 2, `${hits} hits, ${misses} misses`)
      assert.equal(hits + misses + (links('absent') ?? 0), 5)
    })

    test('tell of the API by route, and nothing that names a link, a token or a visitor', async () => {
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

    test('tell of domains, connections and the change log', async () => {
      const text = await eventually(async () => {
        const text = await scrape()
        assert.ok((numberOf(text, 'terse_change_log_lag_seconds') ?? 9) < 5)
        // Now and then a job of the node has one for a moment.
        const pool = { pool: 'requests', state: 'used' }
        const used = numberOf(text, 'terse_database_connections', pool)
        assert.equal(used, engine.name === 'PostgreSQL' ? 0 : undefined)
        return text
      })
      assert.equal(numberOf(text, 'terse_database_up'), 1)
      assert.match(text, /^# TYPE terse_domains gauge$/m)
    })

    test('are as Prometheus wants them', { skip: skipWithout('promtool') }, async () => {
      openPromtool().run(['check', 'metrics'], await scrape())
    })
  })
}

/** By how much a number rose; from 0 where it was not there. */
function grown(before: string, now: string, ...metric: [string, Record<string, string>?]): number {
  return (numberOf(now, ...metric) ?? Number.NaN) - (numberOf(before, ...metric) ?? 0)
}

describe('who may read the metrics', () => {
  const ask = async (
    settings: Record<string, string>,
    asked: readonly (readonly [headers: Record<string, string>, status: number])[],
  ) => {
    const service = await startService(SQLITE, settings)
    try {
      for (const [headers, status] of asked) {
        const answer = await visit(service.port, '/metrics', { headers })
        assert.equal(answer.status, status, JSON.stringify(headers))
        if (status === 404) assert.equal(JSON.parse(answer.body).code, 'not_found')
      }
    } finally {
      await service.stop()
    }
  }

  test('is this machine, and nobody whom a proxy on it passes on', () =>
    ask({}, [
      [{}, 200],
      [{ 'x-forwarded-for': '127.0.0.1' }, 404],
      [{ 'x-real-ip': '198.51.100.7' }, 404],
      [{ forwarded: 'for=127.0.0.1' }, 404],
      [{ via: '1.1 proxy' }, 404],
    ]))

  test('is by the visitor’s address where the proxy is trusted', () =>
    ask({ TERSE_TRUST_PROXY: '127.0.0.1', TERSE_METRICS_FROM: '10.1.0.0/16' }, [
      [{}, 404],
      [{ 'x-forwarded-for': '10.1.2.3' }, 200],
      [{ 'x-forwarded-for': '10.1.2.3, 198.51.100.7' }, 404],
      [{ 'x-forwarded-for': '198.51.100.7' }, 404],
    ]))
})

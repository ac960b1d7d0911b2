import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Answer, Api } from '../support/api.ts'
import { ENGINES, type Engine } from '../support/engines.ts'
import { type Service, startService } from '../support/service.ts'
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts'

const ONE_WAY_MS = 150
const ROUND_TRIPS_MAX = 3
/** The application name of connections for API requests; a node's own work uses another. */
const OF_REQUESTS = /"(links|idempotency|tokens|workspace_quotas)"/
/** What a node sends by itself over any connection: after an answer, and to look for what is due. */
const OF_NODE = /pg_notify|from "imports" where "next_at"|from "instance"|"expires_at" <= /

/** A PostgreSQL database that is reached through a proxy. */
function behind(engine: Engine, onProxy: (proxy: TcpProxy) => void): Engine {
  return {
    ...engine,
    async createMigratedPlace() {
      const place = await engine.createMigratedPlace()
      const url = new URL(place.databaseUrl ?? '')
      const proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port) })
      onProxy(proxy)
      url.port = String(proxy.port)
      return { ...place, env: { ...place.env, TERSE_DATABASE_URL: url.href } }
    },
  }
}

describe('a PostgreSQL with a latency of 300 ms', () => {
  let service: Service
  let api: Api
  let proxy: TcpProxy
  const trips = new Map<object, string[]>()
  before(async () => {
    const engine = ENGINES.find(({ name }) => name === 'PostgreSQL')
    assert.ok(engine !== undefined)
    const distant = behind(engine, (started) => {
      proxy = started
    })
    service = await startService(distant, {
      TERSE_QUOTA_LINKS: '1000000',
      TERSE_QUOTA_STORAGE_MIB: '4096',
    })
    api = await service.api()
    await api.post('/domains', { domain: 'go.example.com' })
    await api.post('/links', { domain: 'go.example.com', url: 'https://example.com/first' })
    // From here on the token is cached. These open connections beside the one for the node's own
    // work.
    await Promise.all(Array.from({ length: 6 }, () => api.get('/domains')))
    proxy.onRoundTrip((sent, connection) => {
      if (OF_NODE.test(sent)) return
      trips.set(connection, [...(trips.get(connection) ?? []), sent.replaceAll(/[^ -~]+/g, ' ')])
    })
    proxy.slow(ONE_WAY_MS)
  })
  after(async () => {
    proxy.mend()
    await service.stop()
    await proxy.close()
  })

  /** Expects that a request succeeds with at most three round trips. */
  async function inThreeTrips(
    work: () => Promise<Answer>,
    status: number,
  ): Promise<Answer['body']> {
    trips.clear()
    const answer = await work()
    assert.equal(answer.status, status, JSON.stringify(answer.body))
    const taken = [...trips.values()].filter((sent) => OF_REQUESTS.test(sent.join())).flat()
    assert.ok(taken.length > 0)
    assert.ok(taken.length <= ROUND_TRIPS_MAX, `round trips:\n${taken.join('\n')}`)
    return answer.body
  }

  test('needs three round trips to create, update or rename a link', async () => {
    const link = { domain: 'go.example.com', key: 'Distant', tags: ['far', 'away'] }
    const url = 'https://elsewhere.example.com/'
    const headers = { 'idempotency-key': 'distant' }
    const created = await inThreeTrips(() => api.post('/links', { ...link, url }, headers), 201)
    const path = `/links/${created.id}`
    const longer = { url: `${url}longer`, ios: 'https://ios.example.com/', tags: ['near'] }
    await inThreeTrips(() => api.patch(path, longer), 200)
    const other = { ...link, url, key: 'renamed', password: 'secret' }
    await inThreeTrips(() => api.put(path, other), 200)
  })
})

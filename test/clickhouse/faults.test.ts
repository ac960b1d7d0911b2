import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Api, expectStatus } from '../support/api.ts'
import { type ClickhouseServer, createClickhouse } from '../support/clickhouse/server.ts'
import { SQLITE } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { expectProblem } from '../support/problems.ts'
import { numberOf } from '../support/prometheus.ts'
import { type Service, startService } from '../support/service.ts'
import { visit } from '../support/visit.ts'

type Fault = {
  readonly name: string
  /** Whether charts can be read meanwhile. */
  readonly isReadable: boolean
  begin(server: ClickhouseServer): Promise<unknown>
  end(server: ClickhouseServer): Promise<unknown>
}

const alterClicks = (server: ClickhouseServer, setting: string) =>
  server.query(`alter table terse.clicks ${setting}`)

const FAULTS: readonly Fault[] = [
  {
    name: 'has no room',
    isReadable: true,
    begin: (server) =>
      alterClicks(server, `modify setting min_free_disk_bytes_to_perform_insert = ${10 ** 17}`),
    end: (server) => alterClicks(server, 'reset setting min_free_disk_bytes_to_perform_insert'),
  },
  {
    name: 'is read-only',
    isReadable: true,
    begin: (server) => alterClicks(server, 'modify setting table_readonly = 1'),
    end: (server) => alterClicks(server, 'modify setting table_readonly = 0'),
  },
  {
    name: 'answers nothing',
    isReadable: false,
    begin: async (server) => server.pause(),
    end: async (server) => server.resume(),
  },
]

for (const { name, isReadable, begin, end } of FAULTS) {
  describe(`while ClickHouse ${name}`, () => {
    let server: ClickhouseServer
    let service: Service
    let api: Api
    let id: string

    before(async () => {
      server = await createClickhouse()
      await server.start()
      await server.query('create database terse')
      service = await startService(SQLITE, {
        TERSE_CLICKS_URL: server.url('terse'),
        TERSE_CLICKS_PASSWORD: server.password,
      })
      api = await service.api()
      const link = { domain: 'localhost', key: 'warm', url: 'https://example.com/warm' }
      id = String(expectStatus(await api.post('/links', link), 201).body.id)
    })
    after(async () => {
      server.resume()
      await service.stop()
      await server.remove()
    })

    const countOfLink = async () => Number((await api.get(`/links/${id}`)).body.clicks)

    const countOfChart = async () => {
      const answer = expectStatus(await api.get(`/links/${id}/clicks?interval=day`), 200)
      return (answer.body as { total: { clicks: number } }).total.clicks
    }

    test('redirects, and counts each click once when that ends', async () => {
      await visit(service.port, '/warm')
      await eventually(async () => assert.equal(await countOfLink(), 1))
      await begin(server)
      for (let click = 0; click < 3; click += 1) {
        assert.equal((await visit(service.port, '/warm')).status, 302)
      }
      if (isReadable) {
        const failures = async () =>
          numberOf((await visit(service.port, '/metrics')).body, 'terse_drain_failures_total')
        await eventually(async () => assert.ok(((await failures()) ?? 0) > 0))
        assert.equal(await countOfChart(), 1)
      } else {
        const answer = await api.get(`/links/${id}/clicks?interval=day`)
        expectProblem(answer, 'unavailable')
      }
      assert.equal(await countOfLink(), 1)
      await end(server)
      await eventually(async () => assert.equal(await countOfLink(), 4))
      assert.equal(await countOfChart(), 4)
      const days = await server.query('select sum(count) from terse.clicks')
      assert.equal(days.trim(), '4')
    })
  })
}

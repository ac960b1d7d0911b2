import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { diagnoseInstance, examinedOf } from '../../src/app/composition/doctor.ts'
import { readConfig } from '../../src/app/config/config.ts'
import { systemClock } from '../../src/platform/time/clock.ts'
import { type Api, expectStatus } from '../support/api.ts'
import { type ClickhouseServer, createClickhouse } from '../support/clickhouse/server.ts'
import { SQLITE } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { expectProblem } from '../support/problems.ts'
import { numberOf } from '../support/prometheus.ts'
import { type Service, startService } from '../support/service.ts'
import { visit } from '../support/visit.ts'

describe('while ClickHouse is down', () => {
  let server: ClickhouseServer
  let service: Service
  let api: Api
  let chart: string
  let id: string
  let env: Readonly<Record<string, string>>

  before(async () => {
    server = await createClickhouse()
    await server.start()
    await server.query('create database terse')
    const settings = {
      TERSE_CLICKS_URL: server.url('terse'),
      TERSE_CLICKS_PASSWORD: server.password,
    }
    service = await startService(SQLITE, settings)
    env = { ...service.place.env, ...settings }
    api = await service.api()
    const link = { domain: 'localhost', key: 'warm', url: 'https://example.com/warm' }
    id = String(expectStatus(await api.post('/links', link), 201).body.id)
    chart = `/links/${id}/clicks?interval=day`
    await visitOnce()
    await countsAre(1)
    await server.stop()
  })
  after(async () => {
    await service.stop()
    await server.remove()
  })

  const visitOnce = async () => {
    assert.equal((await visit(service.port, '/warm')).status, 302)
  }

  /** Waits until the link's counter and its chart have so many clicks. */
  const countsAre = (clicks: number) =>
    eventually(async () => {
      assert.equal((await api.get(`/links/${id}`)).body.clicks, clicks)
      const answer = expectStatus(await api.get(chart), 200)
      assert.equal((answer.body as { total: { clicks: number } }).total.clicks, clicks)
    })

  test('redirects, and creates links', async () => {
    await visitOnce()
    const link = { domain: 'localhost', key: 'cold', url: 'https://example.com/cold' }
    expectStatus(await api.post('/links', link), 201)
    assert.equal((await visit(service.port, '/cold')).status, 302)
  })

  test('charts, single clicks and counts by link answer 503 with Retry-After', async () => {
    for (const path of [chart, '/clicks?interval=day', `/links/${id}/clicks/export`]) {
      const answer = await api.get(path)
      assert.equal(answer.status, 503, path)
      expectProblem(answer, 'unavailable')
      assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d*$/)
      assert.doesNotMatch(JSON.stringify(answer.body), /127\.0\.0\.1|ECONN/)
    }
  })

  test('webhooks that send no clicks are created and changed', async () => {
    const webhook = {
      name: 'Links',
      url: 'https://hooks.example.com/links',
      events: ['link.created'],
    }
    const { body } = expectStatus(await api.post('/webhooks', webhook), 201)
    expectStatus(await api.patch(`/webhooks/${body.id}`, { name: 'Changed' }), 200)
    const clicks = { events: ['link.clicked'] }
    expectProblem(await api.patch(`/webhooks/${body.id}`, clicks), 'unavailable')
  })

  test('the node is ready, and reports why it is degraded', async () => {
    const { status, body } = await visit(service.port, '/readyz')
    assert.equal(status, 200)
    const ready = JSON.parse(body)
    assert.equal(ready.status, 'degraded')
    assert.deepEqual(ready.roles, { redirect: 'ok', api: 'ok', jobs: 'ok' })
    assert.match(ready.clicks_fault, /does not answer/)
    const metrics = await visit(service.port, '/metrics')
    assert.equal(numberOf(metrics.body, 'terse_clicks_database_up'), 0)
    assert.equal(numberOf(metrics.body, 'terse_database_up'), 1)
  })

  test('terse doctor names it', async () => {
    const findings = await diagnoseInstance(examinedOf(readConfig(env)), systemClock())
    const found = findings.find(({ subject }) => subject === 'clickhouse')
    assert.equal(found?.state, 'problem')
    assert.match(found?.text ?? '', /does not answer/)
  })

  test('counts the clicks of the outage once it answers again', async () => {
    await server.start()
    await countsAre(2)
    const ready = JSON.parse((await visit(service.port, '/readyz')).body)
    assert.deepEqual([ready.status, ready.clicks_fault], ['ok', null])
    const findings = await diagnoseInstance(examinedOf(readConfig(env)), systemClock())
    const found = findings.find(({ subject }) => subject === 'clickhouse')
    assert.equal(found?.state, 'ok')
    assert.match(found?.text ?? '', /^ClickHouse \d+\./)
  })

  test('terse doctor says that a newer release has migrated it', async () => {
    await server.query("insert into terse.schema_migrations (version, name) values (999, 'later')")
    const findings = await diagnoseInstance(examinedOf(readConfig(env)), systemClock())
    const found = findings.find(({ subject }) => subject === 'clickhouse')
    assert.equal(found?.state, 'problem')
    assert.match(found?.text ?? '', /newer release, schema version 999/)
  })
})

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { commandLine } from '../../src/identity/actor.ts'
import { hashSecret } from '../../src/identity/tokens.ts'
import { apiClient, expectStatus } from '../support/api.ts'
import { eventually } from '../support/eventually.ts'
import { onEachEngine, type Stage } from '../support/on-each-engine.ts'
import { expectProblem } from '../support/problems.ts'

const CSV = `Short link,Long URL,Tags
old.example/one,https://example.com/1,"a, b"
old.example/two,https://example.com/2,
old.example/bad,javascript:alert(1),
`
/** A process is started for each run. */
const ENDED_WITHIN_MS = 60_000

function sendPart({ api }: Stage, id: string, offset: number, part: string) {
  return api.send('PUT', `/imports/${id}/file?offset=${offset}`, {
    headers: { 'content-type': 'application/octet-stream' },
    body: part,
  })
}

async function prepared(stage: Stage, options: object = {}): Promise<string> {
  const input = { source: 'csv', domains: { 'old.example': 'localhost' }, ...options }
  const created = expectStatus(await stage.api.post('/imports', input), 201).body
  assert.deepEqual([created.status, created.needs_file], ['waiting', true])
  return created.id
}

async function ended({ api }: Stage, id: string) {
  return eventually(async () => {
    const { body } = await api.get(`/imports/${id}`)
    assert.ok(['succeeded', 'failed', 'cancelled'].includes(body.status), body.status)
    return body
  }, ENDED_WITHIN_MS)
}

onEachEngine(
  'an import over the API',
  (stage) => {
    test('stops at a column that may close links, and goes on when it is dismissed', async () => {
      const { api } = stage
      const id = await prepared(stage)
      const file = 'Short link,Long URL,Zustand\nold.example/shut,https://example.com/,Disabled\n'
      expectStatus(await sendPart(stage, id, 0, file), 200)
      expectStatus(await api.post(`/imports/${id}/start`, {}), 200)
      const stopped = await ended(stage, id)
      assert.deepEqual([stopped.status, stopped.rows_done], ['failed', 0])
      assert.match(stopped.fault, /"Zustand" \(such as "Disabled"\)/)

      const dismissed = { ignored_columns: ['Zustand'] }
      expectStatus(await api.post(`/imports/${id}/start`, dismissed), 200)
      const done = await ended(stage, id)
      assert.deepEqual([done.status, done.ignored_columns], ['succeeded', ['Zustand']])
      assert.equal(done.counts.created, 1)
    })

    test('takes a file in parts, shows what it would do, and does it', async () => {
      const { api, service } = stage
      const id = await prepared(stage)
      expectProblem(await api.post(`/imports/${id}/start`, {}), 'validation_failed')
      const half = CSV.slice(0, 60)
      expectStatus(await sendPart(stage, id, 0, half), 200)
      expectProblem(await sendPart(stage, id, 100, 'x'), 'validation_failed')
      const sent = expectStatus(await sendPart(stage, id, 60, CSV.slice(60)), 200).body
      assert.equal(sent.file_bytes, CSV.length)
      assert.deepEqual(sent.file_columns, ['Short link', 'Long URL', 'Tags'])
      assert.equal(sent.file_fields.url, 'Long URL')
      const columns = expectStatus(await api.get(`/imports/${id}/columns`), 200).body.data
      assert.deepEqual(columns[1], {
        name: 'Long URL',
        field: 'url',
        samples: ['https://example.com/1', 'https://example.com/2', 'javascript:alert(1)'],
      })

      expectStatus(await api.post(`/imports/${id}/start`, { dry_run: true }), 200)
      const dry = await ended(stage, id)
      assert.deepEqual([dry.status, dry.dry_run, dry.fault], ['succeeded', true, null])
      assert.deepEqual([dry.counts.created, dry.counts.refused], [2, 1])
      assert.equal((await api.get('/links?domain=localhost&search=one')).body.data.length, 0)

      expectStatus(await api.post(`/imports/${id}/start`, {}), 200)
      const done = await ended(stage, id)
      assert.deepEqual([done.status, done.dry_run, done.rows_done], ['succeeded', false, 3])
      const [link] = (await api.get('/links?domain=localhost&search=one')).body.data
      assert.deepEqual(
        [link.key, link.url, link.tags],
        ['one', 'https://example.com/1', ['a', 'b']],
      )
      const origin = (await api.get(`/links/${link.id}/origin`)).body
      assert.equal(origin.import_id, id)

      const report = await api.get(`/imports/${id}/report`)
      assert.match(
        report.body,
        /,"old\.example\/bad","refused","","","","","The destination must begin/,
      )
      await eventually(async () => {
        const folder = path.join(service.place.dataDir, 'imports')
        assert.deepEqual(existsSync(folder) ? readdirSync(folder) : [], [], 'the file is removed')
      })
      const left = (await api.get(`/imports/${id}/columns`)).body.data
      assert.deepEqual(left[1], { name: 'Long URL', field: 'url', samples: [] })
      expectProblem(await api.post(`/imports/${id}/start`, {}), 'validation_failed')
    })

    test('runs with the rights of who started it, not of who created it', async () => {
      const { service } = stage
      const workspace = `w-${randomUUID().slice(0, 8)}`
      const secret = await service.token(workspace)
      const creator = { ...stage, api: apiClient(service.baseUrl, secret) }
      const other = { ...stage, api: await service.api(workspace) }
      const id = await prepared(creator)
      expectStatus(await sendPart(creator, id, 0, CSV), 200)
      const { store, tokens } = service.instance
      const created = await store.read.tokens.findByHash(hashSecret(secret))
      await tokens.revokeAnywhere(commandLine, created?.id ?? '')
      expectStatus(await other.api.post(`/imports/${id}/start`, { dry_run: true }), 200)
      const { status, fault } = await ended(other, id)
      assert.deepEqual([status, fault], ['succeeded', null])
    })

    test('connects to public addresses only', async () => {
      const input = { source: 'shlink', url: 'http://127.0.0.1:9/', token: 'secret' }
      const { id } = expectStatus(await stage.api.post('/imports', input), 201).body
      expectStatus(await stage.api.post(`/imports/${id}/start`, {}), 200)
      const { status, fault } = await ended(stage, id)
      assert.equal(status, 'failed')
      assert.match(fault, /127\.0\.0\.1|address/)
      assert.ok(!JSON.stringify((await stage.api.get(`/imports/${id}`)).body).includes('secret'))
    })

    test('is cancelled, and removes its file', async () => {
      const id = await prepared(stage)
      expectStatus(await sendPart(stage, id, 0, CSV), 200)
      const cancelled = expectStatus(await stage.api.delete(`/imports/${id}`), 200).body
      assert.equal(cancelled.message, 'Import cancelled')
      assert.equal(cancelled.status, 'cancelled')
      expectProblem(await stage.api.post(`/imports/${id}/start`, {}), 'validation_failed')
      const [newest] = (await stage.api.get('/imports?per_page=1')).body.data
      assert.equal(newest.id, id)
    })

    test('requires the inputs of its kind of source', async () => {
      const { api } = stage
      const faultsOf = async (input: object) =>
        Object.keys(
          expectProblem(await api.post('/imports', input), 'validation_failed').body.errors,
        )
      assert.deepEqual(await faultsOf({ source: 'bitly' }), ['token'])
      assert.deepEqual(await faultsOf({ source: 'shlink', token: 'x' }), ['url'])
      assert.deepEqual(await faultsOf({ source: 'sink', columns: { url: 'a' } }), ['columns'])
      assert.deepEqual(await faultsOf({ source: 'kutt-postgres' }), ['source'])
      assert.deepEqual(await faultsOf({ source: 'csv', timezone: 'Mars/Olympus' }), ['timezone'])
      assert.deepEqual(await faultsOf({ source: 'csv', time_zone: 'Mars/Olympus' }), ['time_zone'])
    })

    test('takes a timezone, by its former name too', async () => {
      const [berlin, tokyo] = ['Europe/Berlin', 'Asia/Tokyo']
      for (const [input, expected] of [
        [{ timezone: berlin }, berlin],
        [{ time_zone: tokyo }, tokyo],
        [{ timezone: berlin, time_zone: tokyo }, berlin],
        [{}, 'UTC'],
      ] as const) {
        const created = await stage.api.post('/imports', { source: 'csv', ...input })
        const { id, timezone, time_zone } = expectStatus(created, 201).body
        assert.deepEqual([timezone, time_zone], [expected, expected])
        expectStatus(await stage.api.delete(`/imports/${id}`), 200)
      }
    })
  },
  { TERSE_LOG_LEVEL: 'error' },
)

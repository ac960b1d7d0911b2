import assert from 'node:assert/strict'
import { copyFileSync, renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import { describe, test } from 'node:test'
import { journalsRoot } from '../../src/clicks/journal/journal-folder.ts'
import { CLICKS_FILE, LINKS_FILE } from '../../src/storage/file-fault.ts'
import { apiClient, expectStatus } from '../support/api.ts'
import { ENGINES, type Engine, SQLITE } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { makeToken } from '../support/make-instance.ts'
import { startProcess } from '../support/service-process.ts'
import { visit } from '../support/visit.ts'

const VISITS = 500

async function startServing(engine: Engine) {
  const place = await engine.createPlace()
  const token = await makeToken(place.env)
  const service = await startProcess(place)
  const api = apiClient(`http://127.0.0.1:${service.port}`, token)
  const createLink = (key: string) =>
    api.post('/links', { domain: 'localhost', key, url: 'https://example.com/' })
  const { id } = expectStatus(await createLink('here'), 201).body
  return {
    place,
    service,
    createLink,
    async visitOften(): Promise<void> {
      for (let count = 0; count < VISITS; count += 1) {
        assert.equal((await visit(service.port, '/here')).status, 302)
      }
    },
    async clicks(): Promise<number> {
      return expectStatus(await api.get(`/links/${id}`), 200).body.clicks
    },
    async readiness() {
      const response = await fetch(`http://127.0.0.1:${service.port}/readyz`)
      return (await response.json()) as {
        status: string
        roles: Record<string, string>
        data_folder_fault: string | null
        lost_clicks: number
      }
    },
    async end() {
      await service.kill()
      await place.remove()
    },
  }
}

for (const engine of ENGINES) {
  describe(`a service whose journals are removed while it runs, on ${engine.title}`, () => {
    test('loses no click, creates them again, and logs it once', async (t) => {
      const serving = await startServing(engine)
      t.after(() => serving.end())
      await serving.visitOften()
      rmSync(journalsRoot(serving.place.dataDir), { recursive: true })
      await serving.visitOften()
      await eventually(async () => assert.equal(await serving.clicks(), 2 * VISITS))
      await serving.visitOften()
      await eventually(async () => assert.equal(await serving.clicks(), 3 * VISITS))
      assert.equal((await serving.readiness()).lost_clicks, 0)
      const { stderr } = serving.service.output()
      assert.equal(stderr.match(/"journal restored"/g)?.length, 1)
    })
  })
}

/** What may happen to a database file of a running service. */
const MISHAPS: readonly (readonly [name: string, cause: (file: string) => void])[] = [
  ['is removed', (file) => rmSync(file)],
  [
    'is replaced by a copy',
    (file) => {
      copyFileSync(file, `${file}.copy`)
      renameSync(`${file}.copy`, file)
    },
  ],
]

describe('a service whose database file is not at its place any more', () => {
  for (const name of [LINKS_FILE, `${LINKS_FILE}-wal`, CLICKS_FILE]) {
    for (const [mishap, cause] of MISHAPS) {
      test(`answers no write with success, reports it and redirects when ${name} ${mishap}`, async (t) => {
        const serving = await startServing(SQLITE)
        t.after(() => serving.end())
        const { dataDir } = serving.place
        cause(path.join(dataDir, name))
        const { body } = expectStatus(await serving.createLink('refused'), 503)
        assert.equal(body.code, 'unavailable')
        assert.ok(body.message.includes(dataDir), body.message)
        assert.match(body.message, /removed or replaced/)
        await eventually(async () => {
          const { status, roles, data_folder_fault: fault } = await serving.readiness()
          assert.equal(status, 'degraded')
          assert.deepEqual([roles.api, roles.redirect], ['unavailable', 'ok'])
          assert.match(fault ?? '', /removed or replaced/)
        })
        expectStatus(await serving.createLink('refused'), 503)
        await serving.visitOften()
        const logged = `"fault":"replaced","file":"${path.join(dataDir, name)}"`
        assert.equal(serving.service.output().stderr.split(logged).length, 2)
      })
    }
  }

  test('continues where the file is put back', async (t) => {
    const serving = await startServing(SQLITE)
    t.after(() => serving.end())
    const file = path.join(serving.place.dataDir, LINKS_FILE)
    renameSync(file, `${file}.away`)
    expectStatus(await serving.createLink('refused'), 503)
    renameSync(`${file}.away`, file)
    await eventually(async () => assert.equal((await serving.readiness()).status, 'ok'))
    expectStatus(await serving.createLink('accepted'), 201)
  })

  test('counts no click into a removed clicks.db, but keeps them in the journal', async (t) => {
    const serving = await startServing(SQLITE)
    t.after(() => serving.end())
    const file = path.join(serving.place.dataDir, CLICKS_FILE)
    renameSync(file, `${file}.away`)
    await serving.visitOften()
    await eventually(async () => assert.equal((await serving.readiness()).status, 'degraded'))
    assert.equal(await serving.clicks(), 0)
    renameSync(`${file}.away`, file)
    await eventually(async () => assert.equal(await serving.clicks(), VISITS))
  })
})

import assert from 'node:assert/strict'
import { chmodSync, chownSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { sqliteFile } from '../../src/storage/sqlite/data-files.ts'
import { apiClient, expectStatus } from '../support/api.ts'
import { ENGINES, type Place, SQLITE } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { ordinaryUser } from '../support/ordinary-user.ts'
import { startService } from '../support/service.ts'
import { startProcess } from '../support/service-process.ts'
import { visit } from '../support/visit.ts'

const PROGRAM = fileURLToPath(new URL('../../bin/terse.js', import.meta.url))
const LINK = { domain: 'localhost', key: 'here', url: 'https://example.com/' }

const user = ordinaryUser(PROGRAM)

/** Settings with a data folder that belongs to the user that the service runs as. */
async function placeOf(engine: (typeof ENGINES)[number]): Promise<Place> {
  const place = await engine.createPlace()
  if (typeof user !== 'string' && user.uid !== undefined) {
    chownSync(place.dataDir, user.uid, user.gid ?? user.uid)
  }
  return place
}

for (const engine of ENGINES) {
  const skip = typeof user === 'string' && user
  describe(`a data folder that becomes read-only, on ${engine.title}`, { skip }, () => {
    test('is named by /readyz, the log and rejected writes, and is used again once it is writable', async (t) => {
      assert.ok(typeof user !== 'string')
      const place = await placeOf(engine)
      const service = await startProcess(place, {}, { user })
      t.after(async () => {
        chmodSync(place.dataDir, 0o700)
        await service.kill()
        await place.remove()
      })
      const secret = /[A-Za-z0-9_-]{30,}/.exec(service.output().stdout)?.[0] ?? ''
      const api = apiClient(`http://127.0.0.1:${service.port}`, secret)
      expectStatus(await api.post('/links', LINK), 201)
      const readiness = async () => {
        const response = await fetch(`http://127.0.0.1:${service.port}/readyz?role=api`)
        return { status: response.status, text: await response.text() }
      }
      const named = `The folder ${place.dataDir} is read-only.`

      chmodSync(place.dataDir, 0o500)
      await eventually(async () => assert.ok((await readiness()).text.includes(named)))
      const isSqlite = engine === SQLITE
      assert.equal((await readiness()).status, isSqlite ? 503 : 200)
      const write = await api.post('/links', { ...LINK, key: 'other' })
      if (isSqlite) assert.ok(expectStatus(write, 503).body.message.startsWith(named))
      else expectStatus(write, 201)
      assert.equal((await visit(service.port, '/here')).status, 302)
      const logged = `"folder":"${place.dataDir}","fault":"read_only","msg":"data folder not writable"`
      assert.ok(service.output().stderr.includes(logged), service.output().stderr)

      chmodSync(place.dataDir, 0o700)
      await eventually(async () => assert.ok(!(await readiness()).text.includes(named)))
      expectStatus(await api.post('/links', { ...LINK, key: 'again' }), 201)
    })
  })
}

describe('a database that is damaged while the service runs', () => {
  test('makes the API answer 503 with a message that names the folder', async (t) => {
    const service = await startService(SQLITE)
    t.after(() => service.stop())
    const { dataDir } = service.place
    const api = await service.api()
    expectStatus(await api.post('/links', LINK), 201)
    const file = sqliteFile(dataDir)
    // In place, because the service has these files open.
    for (const name of [file, `${file}-wal`]) {
      writeFileSync(name, Buffer.alloc(readFileSync(name).length, 'x'), { flag: 'r+' })
    }
    const { body } = expectStatus(await api.get('/links?search=here'), 503)
    assert.equal(body.code, 'unavailable')
    assert.equal(body.message, `A database file in ${path.dirname(file)} is damaged.`)
  })
})

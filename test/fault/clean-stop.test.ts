import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { apiClient } from '../support/api.ts'
import { copyFolder, serveFolder } from '../support/data-folder.ts'
import { createFolder } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { addLink, totalClicks } from '../support/folder-moments.ts'
import { makeToken } from '../support/make-instance.ts'
import { startProcess } from '../support/service-process.ts'
import { visit } from '../support/visit.ts'

const CLICKS = 30

describe('the database files after a stop', () => {
  let dataDir: string
  beforeEach(() => {
    dataDir = createFolder()
  })
  afterEach(() => rmSync(dataDir, { recursive: true, force: true }))

  const logs = () =>
    String(execFileSync('find', [dataDir, '-name', '*-wal', '-o', '-name', '*-shm']))

  test('have no write-ahead logs, whichever of several processes stops last', async (t) => {
    const place = {
      dataDir,
      databaseUrl: undefined,
      env: { TERSE_DATA_DIR: dataDir },
      remove: async () => {},
    }
    const token = await makeToken(place.env)
    const service = await startProcess(place, {}, { args: ['--processes', '2'] })
    const api = apiClient(`http://127.0.0.1:${service.port}`, token)
    const { key } = await addLink(api)
    for (let visits = 0; visits < CLICKS; visits += 1) await visit(service.port, `/${key}`)
    assert.notEqual(logs(), '')
    assert.equal(await service.stop(), 0, service.output().stderr)
    assert.equal(logs(), '')

    // So the database files alone contain everything that was counted.
    const copy = createFolder()
    t.after(() => rmSync(copy, { recursive: true }))
    copyFolder(dataDir, copy, /\.db$|^secret\.key$/)
    copyFolder(path.join(dataDir, 'clicks'), path.join(copy, 'clicks'), /\.db$/)
    await serveFolder(copy, async ({ api }) => assert.equal(await totalClicks(api), CLICKS))
  })

  test('keep their log while a reader is open, which does not delay the stop', async () => {
    let readers: DatabaseSync[] = []
    await serveFolder(dataDir, async ({ api, port }) => {
      const { key } = await addLink(api)
      await visit(port, `/${key}`)
      await eventually(async () => assert.equal(await totalClicks(api), 1))
      readers = ['terse.db', 'clicks.db'].map((name) => {
        const reader = new DatabaseSync(path.join(dataDir, name), { readOnly: true })
        reader.exec('begin; select count(*) from sqlite_schema')
        return reader
      })
      await visit(port, `/${key}`)
    })
    assert.notEqual(logs(), '')
    for (const reader of readers) reader.close()
    await serveFolder(dataDir, async ({ api }) => assert.equal(await totalClicks(api), 2))
    assert.equal(logs(), '')
  })
})

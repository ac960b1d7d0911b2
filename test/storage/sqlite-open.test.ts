import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync, StatementSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, mock, test } from 'node:test'
import { RefusedFiles } from '../../src/storage/file-fault.ts'
import { createFolder } from '../support/engines.ts'
import { openAt } from '../support/store.ts'

describe('opening SQLite', () => {
  let folder: string
  let dataDir: string
  let file: string
  beforeEach(() => {
    folder = createFolder()
    dataDir = path.join(folder, 'new', 'data')
    file = path.join(dataDir, 'terse.db')
  })
  afterEach(() => {
    mock.restoreAll()
    rmSync(folder, { recursive: true })
  })

  const open = () => openAt({ dataDir, databaseUrl: undefined })

  test('creates the folder and the file readable by their owner alone', async () => {
    const { store, engine } = await open()
    assert.match(engine, /^SQLite \d+\.\d+\.\d+$/)
    assert.equal(statSync(dataDir).mode & 0o777, 0o700)
    for (const name of readdirSync(dataDir)) {
      assert.equal(statSync(path.join(dataDir, name)).mode & 0o077, 0, name)
    }
    await store.close()
  })

  test('uses a write-ahead log, and syncs each commit itself until the store is open', async () => {
    const statements = mock.method(DatabaseSync.prototype, 'exec')
    const { store } = await open()
    const text = statements.mock.calls.map((call) => call.arguments[0]).join(';')
    // From then on the log is synced apart from the commits: test/storage/write-ahead-log.test.ts.
    assert.match(text, /synchronous = full.*synchronous = normal/s)
    assert.doesNotMatch(text, /synchronous = off/)
    const other = new DatabaseSync(file)
    assert.equal(other.prepare('pragma journal_mode').get()?.journal_mode, 'wal')
    other.close()
    await store.close()
  })

  const versions: { version: string; refused: boolean }[] = [
    { version: '3.51.2', refused: true },
    { version: '3.50.9', refused: true },
    { version: '2.99.99', refused: true },
    { version: '3.51.3', refused: false },
    { version: '3.52.0', refused: false },
    { version: '4.0.0', refused: false },
  ]
  for (const { version, refused } of versions) {
    test(`${refused ? 'refuses' : 'takes'} version ${version}`, async () => {
      const real = StatementSync.prototype.get
      mock.method(StatementSync.prototype, 'get', function (this: StatementSync) {
        const row = Reflect.apply(real, this, [])
        return row && 'version' in row ? { version } : row
      })
      if (refused) {
        await assert.rejects(
          open(),
          new RegExp(`SQLite ${version.replaceAll('.', '\\.')} has a bug`),
        )
        assert.equal(existsSync(file), false, 'it must not have touched the data folder')
      } else {
        await (await open()).store.close()
      }
    })
  }

  test('refuses a file that is not a database, and leaves it unchanged', async () => {
    await (await open()).store.close()
    const garbage = Buffer.alloc(8_192, 'not a database ')
    writeFileSync(file, garbage)
    await assert.rejects(
      open(),
      (error) =>
        error instanceof RefusedFiles && /terse\.db: file is not a database/.test(error.message),
    )
    assert.ok(readFileSync(file).equals(garbage))
  })

  test('refuses a data folder that is a file', async () => {
    writeFileSync(path.join(folder, 'new'), '')
    await assert.rejects(open(), /ENOTDIR|EEXIST/)
  })
})

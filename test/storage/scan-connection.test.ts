import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync, StatementSync } from 'node:sqlite'
import { after, before, describe, mock, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { CompiledQuery } from 'kysely'
import { Failure } from '../../src/platform/failure.ts'
import { ScanConnection } from '../../src/storage/sqlite/scan-connection.ts'
import { createFolder, ENGINES } from '../support/engines.ts'
import { openAt } from '../support/store.ts'
import { addHome, addLink, listOf } from './samples.ts'

const isUnavailable = (error: unknown) => error instanceof Failure && error.code === 'unavailable'

/** Counts for about a second: a few million rows. */
function countTo(n: number): CompiledQuery {
  const text = `with recursive c(i) as (select 1 union all select i + 1 from c where i < ?) select count(*) as n from c`
  return CompiledQuery.raw(text, [n])
}

describe('the scan connection', () => {
  let folder: string
  let file: string
  // The thread does not keep a process alive that waits for nothing else, as these tests do.
  const keepAlive = setInterval(() => {}, 1_000)
  before(() => {
    folder = createFolder()
    file = path.join(folder, 'test.db')
    new DatabaseSync(file).close()
  })
  after(() => {
    clearInterval(keepAlive)
    rmSync(folder, { recursive: true })
  })

  /** Opens a connection that is closed after its test, also when that fails. */
  function open(t: TestContext, of = file): ScanConnection {
    const scans = new ScanConnection({ file: of, clicksFile: file })
    t.after(() => scans.close())
    return scans
  }

  test('runs a long query without blocking the event loop', async (t) => {
    const scans = open(t)
    let running = true
    const scan = scans.executeQuery<{ n: number }>(countTo(4_000_000)).finally(() => {
      running = false
    })
    let turns = 0
    while (running) {
      await sleep(5)
      turns += 1
    }
    assert.deepEqual((await scan).rows, [{ n: 4_000_000 }])
    assert.ok(turns > 3, `${turns} turns`)
  })

  test('returns to each of many callers its own rows', async (t) => {
    const scans = open(t)
    const results = await Promise.all(
      [5, 1, 3].map((n) => scans.executeQuery<{ n: number }>(countTo(n))),
    )
    assert.deepEqual(
      results.map(({ rows }) => rows[0]?.n),
      [5, 1, 3],
    )
  })

  test('reports a query error to its caller, and continues', async (t) => {
    const scans = open(t)
    await assert.rejects(scans.executeQuery(CompiledQuery.raw('select * from nothing')), /nothing/)
    await assert.rejects(
      scans.executeQuery(CompiledQuery.raw('create table t (x)')),
      isUnavailable,
      'it only reads',
    )
    assert.equal((await scans.executeQuery(countTo(2))).rows.length, 1)
  })

  test('fails waiting callers when it is closed', async (t) => {
    const scans = open(t)
    const scan = assert.rejects(scans.executeQuery(countTo(3_000_000)), isUnavailable)
    await sleep(50)
    await scans.close()
    await scan
  })

  test('fails waiting callers when the thread crashes, and starts a new thread for the next caller', {
    timeout: 30_000,
  }, async (t) => {
    const late = path.join(folder, 'late.db')
    const scans = open(t, late)
    const waiting = [scans.executeQuery(countTo(1)), scans.executeQuery(countTo(1))]
    for (const scan of await Promise.allSettled(waiting)) {
      assert.ok(scan.status === 'rejected' && isUnavailable(scan.reason))
      // The next caller comes while the crashed thread is still ending.
      new DatabaseSync(late).close()
      assert.equal((await scans.executeQuery(countTo(1))).rows.length, 1)
    }
  })

  test('serves filtered and re-sorted lists of links', async () => {
    const sqlite = ENGINES.find(({ name }) => name === 'SQLite')
    assert.ok(sqlite !== undefined)
    const place = await sqlite.createPlace()
    const { store } = await openAt(place)
    const home = await addHome(store)
    await addLink(store, home, { key: 'wanted' })
    const here = mock.method(StatementSync.prototype, 'all', () => {
      throw new Error('read on the thread of the event loop')
    })
    const sort = { field: 'clicks', descending: true } as const
    for (const filter of [{ search: 'want' }, { hosts: [home.domain] }, { sort }]) {
      const page = await store.read.links.page(listOf(home.workspace_id, filter))
      assert.equal(page.total, 1)
    }
    here.mock.restore()
    await store.close()
    await place.remove()
  })
})

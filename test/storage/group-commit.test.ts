import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync, type SQLInputValue, StatementSync } from 'node:sqlite'
import { after, afterEach, before, beforeEach, describe, mock, test } from 'node:test'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { Failure } from '../../src/platform/failure.ts'
import { GroupCommit } from '../../src/storage/sqlite/group-commit.ts'
import { createFolder } from '../support/engines.ts'
import { holdWriteLock, type LockHolder } from './hold-write-lock.ts'

const isUnavailable = (error: unknown) => error instanceof Failure && error.code === 'unavailable'

const NO_PENDING_WRITES = {
  count: 0,
  flush: async () => {},
  undo() {},
  committed() {},
}

/** A database file with one table, `writes (n)`. */
type Fixture = { folder: string; file: string; database: DatabaseSync; commits: GroupCommit }

function openFixture(): Fixture {
  const folder = createFolder()
  const file = path.join(folder, 'test.db')
  const database = new DatabaseSync(file, { timeout: 0 })
  database.exec('pragma journal_mode = wal; create table writes (n integer, text text)')
  return { folder, file, database, commits: new GroupCommit(database, NO_PENDING_WRITES) }
}

function closeFixture({ database, folder }: Fixture): void {
  database.close()
  rmSync(folder, { recursive: true })
}

describe('the group commit', () => {
  let at: Fixture
  beforeEach(() => {
    at = openFixture()
  })
  afterEach(() => closeFixture(at))

  const insert = (n: number, text = '') =>
    at.commits.run(async () => {
      at.database.prepare('insert into writes values (?, ?)').run(n, text)
      return n
    })
  const kept = () =>
    at.database
      .prepare('select n from writes order by rowid')
      .all()
      .map(({ n }) => n)
  /** Returns how often each statement ran during `work`. */
  async function statements(work: () => Promise<unknown>): Promise<Map<string, number>> {
    const counts = new Map<string, number>()
    const original = StatementSync.prototype.run
    const spy = mock.method(
      StatementSync.prototype,
      'run',
      function (this: StatementSync, ...parameters: SQLInputValue[]) {
        counts.set(this.sourceSQL, (counts.get(this.sourceSQL) ?? 0) + 1)
        return Reflect.apply(original, this, parameters)
      },
    )
    await work()
    spy.mock.restore()
    return counts
  }

  test('commits the writes of one event loop turn in order, 64 in a transaction, with one sync', async () => {
    let syncs = 0
    const log = {
      isBegun: () => true,
      begin: async () => {},
      sync: async () => {
        syncs += 1
      },
      checkpointIfLong: () => undefined,
      checkpointing: undefined,
    }
    at.commits = new GroupCommit(at.database, NO_PENDING_WRITES, log)
    const counts = await statements(async () => {
      const results = await Promise.all([...Array(200).keys()].map((n) => insert(n)))
      assert.deepEqual(results, [...Array(200).keys()])
    })
    assert.equal(counts.get('commit'), 4)
    assert.equal(counts.get('begin immediate'), 4)
    assert.equal(syncs, 1)
    assert.deepEqual(kept(), [...Array(200).keys()])
  })

  test('commits two writes together with those of the turns that follow', async (t) => {
    t.mock.method(performance, 'now', () => 0)
    const counts = await statements(async () => {
      const writes = [insert(0)]
      for (let n = 1; n < 6; n += 1) {
        writes.push(insert(n))
        await nextTurn()
      }
      await Promise.all(writes)
    })
    assert.equal(counts.get('commit'), 1)
    assert.deepEqual(kept(), [0, 1, 2, 3, 4, 5])
  })

  test('keeps no write waiting for writes of long turns', async (t) => {
    let nowMs = 0
    t.mock.method(performance, 'now', () => nowMs)
    const counts = await statements(async () => {
      const writes = [insert(0)]
      for (let n = 1; n < 6; n += 1) {
        writes.push(insert(n))
        nowMs += 3
        await nextTurn()
      }
      await Promise.all(writes)
    })
    assert.ok((counts.get('commit') ?? 0) > 1)
  })

  test('commits writes that follow each other in different transactions', {
    timeout: 20_000,
  }, async () => {
    const counts = await statements(async () => {
      for (let n = 0; n < 3; n += 1) await insert(n)
    })
    assert.equal(counts.get('commit'), 3)
  })

  test('limits the size of a batch, so that the first write does not wait for thousands', async () => {
    const settled: number[] = []
    const writes = [...Array(600).keys()].map((n) => insert(n).then(() => settled.push(n)))
    await writes[0]
    assert.ok(settled.length < 600)
    await Promise.all(writes)
    assert.equal(kept().length, 600)
  })

  test('settles a write after it is committed', async () => {
    const other = new DatabaseSync(at.file)
    await insert(1)
    assert.equal(other.prepare('select count(*) as c from writes').get()?.c, 1)
    other.close()
  })

  test('rolls back only the write that throws', async () => {
    const outcomes = await Promise.allSettled(
      [0, 1, 2].map((n) =>
        at.commits.run(async () => {
          at.database.prepare('insert into writes values (?, ?)').run(n, '')
          if (n === 1) throw new Error('on purpose')
        }),
      ),
    )
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    )
    assert.deepEqual(kept(), [0, 2])
  })

  /** Returns how often each of 200 writes ran, of which every tenth is refused as `refuse` does. */
  async function runsAround(refuse: (n: number) => void): Promise<readonly number[]> {
    const runs = Array(200).fill(0)
    const outcomes = await Promise.allSettled(
      runs.map((_, n) =>
        at.commits.run(async () => {
          runs[n] += 1
          if (n % 10 === 5) refuse(n)
          at.database.prepare('insert into writes values (?, ?)').run(n, '')
        }),
      ),
    )
    const isRefused = (n: number) => n % 10 === 5
    assert.deepEqual(
      outcomes.map(({ status }) => status === 'rejected'),
      runs.map((_, n) => isRefused(n)),
    )
    const expected = [...Array(200).keys()].filter((n) => !isRefused(n))
    assert.deepEqual(kept(), expected)
    return runs
  }

  test('runs no write twice when others are refused before they write', async () => {
    const counts = await statements(async () => {
      const runs = await runsAround(() => {
        throw new Error('on purpose')
      })
      assert.equal(Math.max(...runs), 1)
    })
    assert.equal(counts.get('commit'), 4)
  })

  test('runs a write at most twice when others are refused after they have written', async () => {
    const runs = await runsAround((n) => {
      at.database.prepare('insert into writes values (?, ?)').run(n, 'refused')
      throw new Error('on purpose')
    })
    assert.equal(Math.max(...runs), 2)
  })

  test('runs only the writes of the same commit again when one is refused after it has written', async () => {
    const runs = Array(256).fill(0)
    const writes = runs.map((_, n) =>
      at.commits.run(async () => {
        runs[n] += 1
        at.database.prepare('insert into writes values (?, ?)').run(n, '')
        if (n === 255) throw new Error('on purpose')
      }),
    )
    await Promise.allSettled(writes)
    assert.equal(kept().length, 255)
    assert.deepEqual(
      runs.map((count) => count > 1),
      runs.map((_, n) => n >= 192),
    )
  })

  test('does not run a write a second time that fails alone', async () => {
    let runs = 0
    const write = at.commits.run(async () => {
      runs += 1
      throw new Error('on purpose')
    })
    await assert.rejects(write, { message: 'on purpose' })
    assert.equal(runs, 1)
  })

  test('becomes idle once every write has settled, including later ones', {
    timeout: 20_000,
  }, async () => {
    let settled = 0
    const first = insert(1).then(() => {
      settled += 1
      void insert(2).then(() => {
        settled += 1
      })
    })
    await first
    await at.commits.idle()
    assert.equal(settled, 2)
  })

  test('fails the writes that no longer fit on the disk, and works again when there is room', async () => {
    const pages = Number(at.database.prepare('pragma page_count').get()?.page_count)
    at.database.exec(`pragma max_page_count = ${pages + 2}`)
    const outcomes = await Promise.allSettled([insert(1), insert(2, 'x'.repeat(100_000))])
    const failed = outcomes.flatMap((o) => (o.status === 'rejected' ? [o.reason] : []))
    assert.ok(failed.length >= 1)
    const keptCount = kept().length
    assert.equal(keptCount, 2 - failed.length, 'failed writes are rolled back, all others are kept')
    at.database.exec('pragma max_page_count = 1000000')
    await insert(3, 'x'.repeat(100_000))
    assert.equal(kept().at(-1), 3)
  })
})

describe('the group commit while another process holds the write lock', {
  concurrency: true,
}, () => {
  const open: { fixture: Fixture; holder: LockHolder }[] = []
  before(async () => {
    for (let count = 0; count < 3; count += 1) {
      const fixture = openFixture()
      open.push({ fixture, holder: await holdWriteLock(fixture.file) })
    }
  })
  after(async () => {
    for (const { fixture, holder } of open) {
      holder.kill()
      await holder.ended
      closeFixture(fixture)
    }
  })

  function insertInto({ commits, database }: Fixture): Promise<unknown> {
    return commits.run(async () => database.prepare('insert into writes values (1, null)').run())
  }
  const opened = (index: number) => {
    const pair = open[index]
    if (pair === undefined) throw new Error('no such fixture')
    return pair
  }

  test('waits without blocking the event loop, and continues when the lock is released', async () => {
    const { fixture, holder } = opened(0)
    const write = insertInto(fixture)
    await sleep(20)
    // If the write blocked, it would fail after five seconds, before this runs.
    holder.release()
    await write
    assert.equal(fixture.database.prepare('select count(*) as c from writes').get()?.c, 1)
  })

  test('continues when the other process is killed, and none of its transaction remains', async () => {
    const { fixture, holder } = opened(1)
    const write = insertInto(fixture)
    await sleep(20)
    holder.kill()
    await write
    const tables = fixture.database.prepare("select name from sqlite_schema where name = 'held'")
    assert.deepEqual(tables.all(), [])
  })

  test('gives up after five seconds as unavailable, and works again once the lock is released', async () => {
    const { fixture, holder } = opened(2)
    const startedMs = performance.now()
    await assert.rejects(insertInto(fixture), isUnavailable)
    const waitedMs = performance.now() - startedMs
    assert.ok(waitedMs > 4_900 && waitedMs < 20_000, `waited ${waitedMs} ms`)
    holder.release()
    await insertInto(fixture)
    assert.equal(fixture.database.prepare('select count(*) as c from writes').get()?.c, 1)
  })
})

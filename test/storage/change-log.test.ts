import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import pg from 'pg'
import type { FullStore } from '../../src/app/database/stores.ts'
import {
  type Change,
  type ChangeCursor,
  hostChange,
  linkChange,
} from '../../src/storage/changes.ts'
import { dropConnections } from '../support/database-access.ts'
import { eventually } from '../support/eventually.ts'
import { describeStore } from '../support/store.ts'
import { same } from './same.ts'
import { NOW, unique } from './samples.ts'

const LIMIT = 1_000

function append(store: FullStore, ...changes: Change[]): Promise<void> {
  return store.write(async (stores) => {
    for (const change of changes) await stores.changes.append(change, NOW)
  })
}

/** Reads the log as a node does that keeps its cursor between reads. */
function reader(store: FullStore, start: ChangeCursor) {
  let cursor = start
  return async (limit = LIMIT): Promise<string[] | undefined> => {
    const news = await store.read.changes.since(cursor, limit)
    cursor = news.cursor
    return news.changes?.map(({ subject }) => subject)
  }
}

describeStore('the change log', (at, engine) => {
  test('returns everything committed after the cursor, in order', async () => {
    await append(at.store, hostChange('before.example'))
    const start = await at.store.read.changes.end()
    const changes = [hostChange('a.example'), linkChange(7, 'ähre/x'), hostChange('b.example')]
    await append(at.store, ...changes)
    const news = await at.store.read.changes.since(start, LIMIT)
    same(
      news.changes?.map(({ kind, subject }) => ({ kind, subject })),
      changes,
    )
    same((await at.store.read.changes.since(news.cursor, LIMIT)).changes, [])
  })

  test('returns changes to another process, and none of a rolled-back transaction', async () => {
    const other = await at.another()
    const read = reader(other.store, await other.store.read.changes.end())
    const undone = at.store.write(async (stores) => {
      await stores.changes.append(hostChange('undone.example'), NOW)
      throw new Error('on purpose')
    })
    await assert.rejects(undone)
    await append(at.store, hostChange('done.example'))
    same(await read(), ['done.example'])
  })

  test('reports that more changes follow than were requested, and continues after them', async () => {
    const read = reader(at.store, await at.store.read.changes.end())
    const subjects = Array.from({ length: 6 }, (_, index) => `${index}.example`)
    await append(at.store, ...subjects.map(hostChange))
    assert.equal(await read(5), undefined)
    await append(at.store, hostChange('next.example'))
    same(await read(5), ['next.example'])
    const start = await at.store.read.changes.end()
    await append(at.store, ...subjects.map(hostChange))
    same(await reader(at.store, start)(6), subjects)
  })

  test('deletes changes older than an instant, and reports this to a reader that has not read them', async () => {
    const start = await at.store.read.changes.end()
    await append(at.store, hostChange('old.example'))
    const between = await at.store.read.changes.end()
    await at.store.write((stores) => stores.changes.append(hostChange('young.example'), NOW + 10))
    const cursor = await at.store.read.changes.end()
    await at.store.write((stores) => stores.changes.trim(NOW + 10))
    same(await reader(at.store, between)(), ['young.example'])
    const late = reader(at.store, start)
    assert.equal(await late(), undefined)
    same(await late(), [])
    await at.store.write((stores) => stores.changes.trim(NOW + 11))
    assert.equal(await reader(at.store, between)(), undefined)
    const fromEmpty = await at.store.read.changes.end()
    await append(at.store, hostChange('new.example'))
    for (const read of [late, reader(at.store, cursor), reader(at.store, fromEmpty)]) {
      same(await read(), ['new.example'])
    }
  })

  test('deletes in bounded steps, and reports when nothing is left to delete', async () => {
    while (await at.store.write((stores) => stores.changes.trim(Number.MAX_SAFE_INTEGER)));
    await append(at.store, ...Array.from({ length: 2_500 }, (_, n) => hostChange(`${n}.example`)))
    const left: number[] = []
    for (let more = true; more; ) {
      more = await at.store.write((stores) => stores.changes.trim(NOW + 1))
      left.push((await at.db.selectFrom('changes').select('id').execute()).length)
    }
    same(left, [1_500, 500, 0])
  })

  test('skips no change while several processes write and a reader reads', async () => {
    const stores = [at.store, (await at.another()).store] as const
    const read = reader(at.store, await at.store.read.changes.end())
    const written = Array.from({ length: 120 }, () => unique('subject'))
    const seen = new Set<string>()
    let writing = true
    const all = Promise.all(
      written.map((subject, index) =>
        (stores[index % 2] ?? at.store).write(async (nouns) => {
          await nouns.changes.append(hostChange(subject), NOW)
          // Run a varying number of statements, so that transactions commit in another order than
          // they began.
          for (let count = index % 7; count > 0; count -= 1) await nouns.instance.find('any')
        }),
      ),
    ).finally(() => {
      writing = false
    })
    while (writing) {
      for (const subject of (await read()) ?? []) seen.add(subject)
      await nextTurn()
    }
    await all
    for (const subject of (await read()) ?? []) seen.add(subject)
    same(
      written.filter((subject) => !seen.has(subject)),
      [],
    )
  })

  if (engine.name !== 'PostgreSQL') return

  test('returns a transaction that commits late to a reader that has already read a later one', async () => {
    const late = new pg.Client(at.place.databaseUrl)
    await late.connect()
    const read = reader(at.store, await at.store.read.changes.end())
    await late.query('begin')
    await late.query("insert into changes (at, kind, subject) values (1, 'host', 'late.example')")
    await append(at.store, hostChange('later.example'))
    same(await read(), ['later.example'])
    // Each change is returned once, even while an older transaction is open.
    same(await read(), [])
    await late.query('commit')
    await late.end()
    same(await read(), ['late.example'])
    same(await read(), [])
  })

  test('returns a transaction that commits late to a reader that started in the meantime', async () => {
    const late = new pg.Client(at.place.databaseUrl)
    await late.connect()
    await late.query('begin')
    await late.query("insert into changes (at, kind, subject) values (1, 'host', 'slow.example')")
    await append(at.store, hostChange('quick.example'))
    const read = reader(at.store, await at.store.read.changes.end())
    await late.query('commit')
    await late.end()
    assert.ok((await read())?.includes('slow.example'))
  })

  test('resets a reader whose cursor comes from another database or another timeline', async () => {
    const [history = '', ...rest] = (await at.store.read.changes.end()).split(' ')
    assert.match(history, /^\d+-\d+-[0-9A-F]{8}$/)
    const [server, database, timeline] = history.split('-')
    for (const other of [
      `${server}-${database}-00000000`,
      `${server}-1-${timeline}`,
      `1-${database}-${timeline}`,
    ]) {
      assert.equal(await reader(at.store, [other, ...rest].join(' '))(), undefined, other)
    }
    same(await reader(at.store, [history, ...rest].join(' '))(), [])
  })

  test('resets a reader whose cursor is ahead of the database', async () => {
    const [history = '', server = '', snapshot = ''] = (await at.store.read.changes.end()).split(
      ' ',
    )
    const [, xmax] = snapshot.split(':')
    // As after a server was restored from an older disk: its timeline is unchanged.
    const later = String(BigInt(xmax ?? '') + 1_000n)
    const ahead = reader(at.store, [history, server, `${later}:${later}:`].join(' '))
    await append(at.store, hostChange('again.example'))
    assert.equal(await ahead(), undefined)
    await append(at.store, hostChange('next.example'))
    same(await ahead(), ['next.example'])
  })

  test('reports that the server has crashed since the cursor was issued, and not that a connection ended', async () => {
    const { changes } = at.store.read
    const cursor = await changes.end()
    assert.equal((await changes.since(cursor, LIMIT)).isInterrupted, false)
    await dropConnections(at.place)
    await eventually(async () => {
      assert.equal((await changes.since(cursor, LIMIT)).isInterrupted, false)
    })
    const [history = '', uncrashedSince, snapshot = ''] = cursor.split(' ')
    const earlier = String(Number(uncrashedSince) - 1)
    const news = await changes.since([history, earlier, snapshot].join(' '), LIMIT)
    assert.equal(news.isInterrupted, true)
    assert.equal((await changes.since(news.cursor, LIMIT)).isInterrupted, false)
  })

  test('notifies other processes of new changes, and not the process that made them', async () => {
    const other = await at.another()
    let notifiedHere = 0
    let notifiedThere = 0
    at.store.onRemoteChange(() => {
      notifiedHere += 1
    })
    other.store.onRemoteChange(() => {
      notifiedThere += 1
    })
    // Both start by reading what they may have missed.
    await eventually(async () => assert.ok(notifiedHere === 1 && notifiedThere === 1))
    await append(at.store, hostChange('news.example'))
    await eventually(async () => assert.equal(notifiedThere, 2))
    assert.equal(notifiedHere, 1)
    await dropConnections(at.place)
    await eventually(async () => assert.ok(notifiedThere > 2, 'it listens again'))
  })
})

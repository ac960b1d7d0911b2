import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import pg from 'pg'
import type { FullStore } from '../../src/app/database/stores.ts'
import { type Change, hostChange, linkChange } from '../../src/platform/changes/change.ts'
import type { ChangeCursor } from '../../src/platform/changes/change-log.ts'
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

/** What a reader hears who comes back with its cursor each time. */
function reader(store: FullStore, start: ChangeCursor) {
  let cursor = start
  return async (limit = LIMIT): Promise<string[] | undefined> => {
    const news = await store.read.changes.since(cursor, limit)
    cursor = news.cursor
    return news.changes?.map(({ subject }) => subject)
  }
}

describeStore('the change log', (at, engine) => {
  test('tells a reader what was committed after its cursor, in order and in full', async () => {
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

  test('tells another process too, and nothing of what was undone', async () => {
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

  test('says that there are more changes than were asked for, and goes on after them', async () => {
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

  test('forgets what is older than the given instant, and says so to whoever has not read it', async () => {
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

  test('forgets many in bounded steps, and says when there are no more', async () => {
    while (await at.store.write((stores) => stores.changes.trim(Number.MAX_SAFE_INTEGER)));
    await append(at.store, ...Array.from({ length: 2_500 }, (_, n) => hostChange(`${n}.example`)))
    const left: number[] = []
    for (let more = true; more; ) {
      more = await at.store.write((stores) => stores.changes.trim(NOW + 1))
      left.push((await at.db.selectFrom('changes').select('id').execute()).length)
    }
    same(left, [1_500, 500, 0])
  })

  test('leaves nothing out while several processes write and a reader reads', async () => {
    const stores = [at.store, (await at.another()).store] as const
    const read = reader(at.store, await at.store.read.changes.end())
    const written = Array.from({ length: 120 }, () => unique('subject'))
    const heard = new Set<string>()
    let writing = true
    const all = Promise.all(
      written.map((subject, index) =>
        (stores[index % 2] ?? at.store).write(async (nouns) => {
          await nouns.changes.append(hostChange(subject), NOW)
          // More statements, so that transactions commit in another order than they began.
          for (let count = index % 7; count > 0; count -= 1) await nouns.instance.find('any')
        }),
      ),
    ).finally(() => {
      writing = false
    })
    while (writing) {
      for (const subject of (await read()) ?? []) heard.add(subject)
      await nextTurn()
    }
    await all
    for (const subject of (await read()) ?? []) heard.add(subject)
    same(
      written.filter((subject) => !heard.has(subject)),
      [],
    )
  })

  if (engine.name !== 'PostgreSQL') return

  test('tells of a transaction that commits late to a reader that has heard a later one', async () => {
    const late = new pg.Client(at.place.databaseUrl)
    await late.connect()
    const read = reader(at.store, await at.store.read.changes.end())
    await late.query('begin')
    await late.query("insert into changes (at, kind, subject) values (1, 'host', 'late.example')")
    await append(at.store, hostChange('later.example'))
    same(await read(), ['later.example'])
    // Each change is told once, while an older transaction is open too.
    same(await read(), [])
    await late.query('commit')
    await late.end()
    same(await read(), ['late.example'])
    same(await read(), [])
  })

  test('tells of a transaction that commits late to a reader that began meanwhile', async () => {
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

  test('has a reader forget everything that knows another database, or another history of it', async () => {
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

  test('has a reader forget everything whose place the database has not reached yet', async () => {
    const [history = '', server = '', snapshot = ''] = (await at.store.read.changes.end()).split(
      ' ',
    )
    const [, xmax] = snapshot.split(':')
    // As after a server that was put back to an older state of its disk: its timeline is the same.
    const later = String(BigInt(xmax ?? '') + 1_000n)
    const ahead = reader(at.store, [history, server, `${later}:${later}:`].join(' '))
    await append(at.store, hostChange('again.example'))
    assert.equal(await ahead(), undefined)
    await append(at.store, hostChange('next.example'))
    same(await ahead(), ['next.example'])
  })

  test('says when the server has crashed since the cursor was given, and not when a connection ended', async () => {
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

  test('tells other processes that there is news, and not the one that made it', async () => {
    const other = await at.another()
    let heardHere = 0
    let heardThere = 0
    at.store.onNews(() => {
      heardHere += 1
    })
    other.store.onNews(() => {
      heardThere += 1
    })
    // Both begin with what they may have missed.
    await eventually(async () => assert.ok(heardHere === 1 && heardThere === 1))
    await append(at.store, hostChange('news.example'))
    await eventually(async () => assert.equal(heardThere, 2))
    assert.equal(heardHere, 1)
    await dropConnections(at.place)
    await eventually(async () => assert.ok(heardThere > 2, 'it listens again'))
  })
})

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import pg from 'pg'
import type { FullStore } from '../../src/app/database/stores.ts'
import type { EventCursor } from '../../src/events/store/event-store.ts'
import { commandLine } from '../../src/identity/actor.ts'
import { systemRandom, uuidV7 } from '../../src/platform/crypto/random.ts'
import { describeStore } from '../support/store.ts'
import { NOW } from './samples.ts'

const WORKSPACE = randomUUID()
const actor = commandLine(WORKSPACE)

function append(
  store: FullStore,
  subjects: readonly string[],
  at = Date.now() * 1_000,
): Promise<void> {
  return store.write(async ({ events }) => {
    for (const subjectId of subjects) {
      const event = { type: 'link.created', subjectId, before: null, after: {} } as const
      await events.append(actor, event, at)
    }
  })
}

function newSubjects(count: number): string[] {
  return Array.from({ length: count }, () => randomUUID())
}

/** Reads on from its cursor at each call, and returns the subjects of the events. */
function reader(store: FullStore, start: EventCursor, limit: number) {
  let cursor = start
  return async (): Promise<string[]> => {
    const { events, cursor: next } = await store.read.events.since(cursor, limit)
    cursor = next
    return events.map(({ subjectId }) => subjectId)
  }
}

describeStore('the event log', (at, engine) => {
  test('returns what was committed after a cursor, in order, a few at a time', async () => {
    await append(at.store, newSubjects(1))
    const read = reader(at.store, await at.store.read.events.end(), 3)
    const subjects = newSubjects(7)
    await append(at.store, subjects)
    const late = newSubjects(2)
    const found = await read()
    await append(at.store, late)
    for (let count = 0; count < 4; count += 1) found.push(...(await read()))
    assert.deepEqual(found, [...subjects, ...late])
    assert.deepEqual(await read(), [])
  })

  test('holds an event as it was written, and nothing of a transaction that failed', async () => {
    const other = await at.another()
    const start = await other.store.read.events.end()
    const failed = at.store.write(async ({ events }) => {
      const event = {
        type: 'link.deleted',
        subjectId: randomUUID(),
        before: {},
        after: null,
      } as const
      await events.append(actor, event, NOW)
      throw new Error('on purpose')
    })
    await assert.rejects(failed)
    const before = { url: 'https://ä.example/', tags: ['a'] }
    const subjectId = randomUUID()
    const requested = { ...actor, requestId: 'r' }
    const now = Date.now() * 1_000
    await at.store.write(({ events }) =>
      events.append(requested, { type: 'link.updated', subjectId, before, after: {} }, now),
    )
    const { events } = await other.store.read.events.since(start, 10)
    const [{ sequence, ...event } = assert.fail('no event'), ...others] = events
    assert.ok(sequence > 0)
    assert.deepEqual(others, [])
    assert.deepEqual(event, {
      at: now,
      workspaceId: WORKSPACE,
      actor: { kind: 'system', id: null, name: 'command line' },
      requestId: 'r',
      type: 'link.updated',
      subjectId,
      before,
      after: {},
    })
  })

  test('leaves nothing out and repeats nothing while processes write and commit in any order', async () => {
    const stores = [at.store, (await at.another()).store] as const
    const read = reader(at.store, await at.store.read.events.end(), 5)
    const written = newSubjects(120)
    const found: string[] = []
    let writing = true
    const all = Promise.all(
      written.map((subjectId, index) =>
        (stores[index % 2] ?? at.store).write(async (nouns) => {
          const event = { type: 'link.created', subjectId, before: null, after: {} } as const
          await nouns.events.append(actor, event, Date.now() * 1_000)
          // Writes the event now, so that others begin and commit before this transaction does.
          await nouns.events.end()
          for (let count = index % 7; count > 0; count -= 1) await nouns.instance.find('any')
        }),
      ),
    ).finally(() => {
      writing = false
    })
    while (writing) {
      found.push(...(await read()))
      await nextTurn()
    }
    await all
    for (let more = await read(); more.length > 0; more = await read()) found.push(...more)
    assert.deepEqual(found.toSorted(), written.toSorted())
  })

  test('deletes what is older than an instant in bounded steps', async () => {
    while (await at.store.write(({ events }) => events.trim(Number.MAX_SAFE_INTEGER)));
    await append(at.store, newSubjects(2_500), NOW)
    const [kept = ''] = newSubjects(1)
    await append(at.store, [kept], NOW + 10)
    const left: number[] = []
    for (let more = true; more; ) {
      more = await at.store.write(({ events }) => events.trim(NOW + 10))
      left.push((await at.db.selectFrom('events').select('id').execute()).length)
    }
    assert.deepEqual(left, [1_501, 501, 1])
    const run = { workspaceId: WORKSPACE, limit: 10, beyond: undefined }
    const { items } = await at.store.read.events.run(run)
    assert.deepEqual(
      items.map(({ subjectId }) => subjectId),
      [kept],
    )
  })

  test('lists the events of a link with its creation last, page by page', async () => {
    const micros = Date.now() * 1_000
    const subjectId = uuidV7({ nowMicros: () => micros }, systemRandom)
    const others = newSubjects(20)
    // Another link is created at the same instant, and the link itself a little after its identifier.
    await append(at.store, others, micros)
    await append(at.store, [subjectId], micros + 40)
    await at.store.write(async ({ events }) => {
      for (const age of [50, 60, 70]) {
        const event = { type: 'link.updated', subjectId, before: {}, after: {} } as const
        await events.append(actor, event, micros + age)
      }
    })
    const base = { workspaceId: WORKSPACE, subjectId, limit: 3 }
    const first = await at.store.read.events.run({ ...base, beyond: undefined })
    const second = await at.store.read.events.run({ ...base, beyond: first.rest })
    const ages = [...first.items, ...second.items].map(({ at: instant }) => instant - micros)
    assert.deepEqual(ages, [70, 60, 50, 40])
    assert.equal(second.rest, undefined)
    const creations = { ...base, types: ['link.created'] as const, beyond: undefined }
    assert.equal((await at.store.read.events.run(creations)).items.length, 1)
    const until = { ...base, toMicros: micros + 40, beyond: undefined }
    assert.deepEqual((await at.store.read.events.run(until)).items, [])
  })

  if (engine.name !== 'PostgreSQL') return

  test('returns an event that commits late to a reader that has read a later one', async () => {
    const late = new pg.Client(at.place.databaseUrl)
    await late.connect()
    try {
      const read = reader(at.store, await at.store.read.events.end(), 2)
      const [lateSubject = '', ...others] = newSubjects(6)
      await late.query('begin')
      await late.query(
        `insert into events (at, workspace, author, type, subject_id)
         select $1, 0, number, 'link.created', $2 from event_authors limit 1`,
        [Date.now() * 1_000, lateSubject],
      )
      await append(at.store, others)
      assert.deepEqual(await read(), others.slice(0, 2))
      await late.query('commit')
      const found = [...(await read()), ...(await read()), ...(await read()), ...(await read())]
      assert.deepEqual(found, [...others.slice(2), lateSubject])
      assert.deepEqual(await read(), [])
    } finally {
      await late.end()
    }
  })

  test('reads the last hour again where numbers of transactions have begun another life', async () => {
    const [old = '', recent = '', next = ''] = newSubjects(3)
    await append(at.store, [old], (Date.now() - 2 * 60 * 60 * 1_000) * 1_000)
    await append(at.store, [recent])
    const cursor = JSON.parse(await at.store.read.events.end())
    const restored = JSON.stringify({ ...cursor, epoch: 'another' })
    const read = reader(at.store, restored, 1_000)
    await append(at.store, [next])
    const found = await read()
    assert.deepEqual(found.slice(-2), [recent, next])
    assert.ok(!found.includes(old))
    assert.deepEqual(await read(), [])
  })
})

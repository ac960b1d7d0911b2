import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import type { CompiledQuery, DatabaseConnection } from 'kysely'
import { events } from '../../src/app/database/migrations/010-events.ts'
import { eventSubjects } from '../../src/app/database/migrations/012-event-subjects.ts'
import { eventAuthors } from '../../src/app/database/migrations/018-event-authors.ts'
import { COLUMN_TYPES as POSTGRES_TYPES } from '../../src/app/database/postgres/column-types.ts'
import { COLUMN_TYPES as SQLITE_TYPES } from '../../src/app/database/sqlite/column-types.ts'
import type { FullStore } from '../../src/app/database/stores.ts'
import { commandLine } from '../../src/identity/actor.ts'
import type { EventAuthor } from '../../src/storage/event-log.ts'
import type { ColumnTypes } from '../../src/storage/migration.ts'
import { kyselyOver } from '../../src/storage/sqlite/connection.ts'
import { dropConnections } from '../support/database-access.ts'
import { ENGINES, type Place } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { execute } from '../support/execute.ts'
import { describeStore, openAt } from '../support/store.ts'
import { NOW } from './samples.ts'

const EVENT = { type: 'link.deleted', before: {}, after: null } as const

/** Appends an event, and returns its subject. */
async function append(store: FullStore, author: EventAuthor, at = NOW): Promise<string> {
  const subjectId = randomUUID()
  await store.write((stores) => stores.events.append(author, { ...EVENT, subjectId }, at))
  return subjectId
}

async function subjectsOf(store: FullStore, workspaceId: string): Promise<readonly string[]> {
  const { items } = await store.read.events.run({ workspaceId, limit: 100, beyond: undefined })
  return items.map(({ subjectId }) => subjectId).toSorted()
}

describeStore('authors of events', (at) => {
  test('are numbered once for each name, in each workspace', async () => {
    const id = randomUUID()
    const [one, other] = [randomUUID(), randomUUID()]
    const token = { kind: 'token', id, name: 'first', workspaceId: one, requestId: null } as const
    const renamed = { ...token, name: 'second' }
    const elsewhere = { ...token, workspaceId: other }
    const { store: second } = await at.another()
    for (const author of [token, renamed, elsewhere, token]) {
      await append(at.store, author)
      await append(second, author)
    }
    const rows = await at.db.selectFrom('event_authors').selectAll().execute()
    const own = rows.filter(({ actor_id }) => actor_id === id)
    assert.deepEqual(
      own.map(({ workspace_id, name }) => [workspace_id, name].join()).toSorted(),
      [`${one},first`, `${one},second`, `${other},first`].toSorted(),
    )
  })

  test('are written again after the transaction that wrote them was rolled back or lost', async () => {
    const author = commandLine(randomUUID())
    const failed = at.store.write(async ({ events: log }) => {
      await log.append(author, { ...EVENT, subjectId: randomUUID() }, NOW)
      throw new Error('on purpose')
    })
    await assert.rejects(failed, /on purpose/)
    const first = await append(at.store, author)
    assert.deepEqual(await subjectsOf(at.store, author.workspaceId), [first])
    // A standby that takes over may not have received it.
    const { workspaceId } = author
    await execute(at.place, `delete from event_authors where workspace_id = '${workspaceId}'`)
    const { store: restarted } = await at.another()
    const second = await append(restarted, author)
    assert.deepEqual(await subjectsOf(at.store, workspaceId), [second])
  })

  test('stay in their workspace when another workspace has the same number', async () => {
    const one = randomUUID()
    const other = `${randomUUID().slice(0, -8)}${one.slice(-8)}`
    const ofOne = await append(at.store, commandLine(one))
    const ofOther = await append(at.store, commandLine(other))
    assert.deepEqual(await subjectsOf(at.store, one), [ofOne])
    assert.deepEqual(await subjectsOf(at.store, other), [ofOther])
    while (await at.store.write(({ erasures }) => erasures.eraseEvents(one)));
    assert.deepEqual(await subjectsOf(at.store, one), [])
    assert.deepEqual(await subjectsOf(at.store, other), [ofOther])
  })
})

for (const engine of ENGINES.filter(({ name }) => name === 'PostgreSQL')) {
  test('authors of events whose rows were lost in a failover are written again', async (t) => {
    const place = await engine.createMigratedPlace()
    let onError = () => {}
    const { store } = await openAt(place, { onError: () => onError() })
    t.after(async () => {
      await store.close()
      await place.remove()
    })
    const author = commandLine(randomUUID())
    await append(store, author)
    await execute(place, 'delete from event_authors')
    const broken = Promise.withResolvers<void>()
    onError = () => broken.resolve()
    await dropConnections(place)
    await broken.promise
    const found = await eventually(() => append(store, author))
    assert.deepEqual(await subjectsOf(store, author.workspaceId), [found])
  })
}

describe('the log of a version in which events repeated their author', () => {
  for (const engine of ENGINES) {
    test(`keeps all events, and its order, on ${engine.title}`, async (t) => {
      const place = await engine.createPlace()
      t.after(() => place.remove())
      const [one, other, token, subject] = [1, 2, 3, 4].map(() => randomUUID()) as [
        ...[string, string, string, string],
      ]
      const row = (at: number, author: readonly (string | null)[]) =>
        `insert into events (at, workspace_id, actor_kind, actor_id, actor_name, type, subject_id)
         values (${at}, ${author.map(quote).join()}, 'link.deleted', '${subject}')`
      await makeOldLog(place, [
        row(NOW, [one, 'system', null, 'command line']),
        row(NOW + 1, [one, 'token', token, 'bench']),
        row(NOW + 2, [other, 'token', token, 'bench']),
        row(NOW + 3, [one, 'system', null, 'command line']),
        row(NOW + 4, [one, 'system', null, 'removed']),
        "delete from events where actor_name = 'removed'",
      ])
      const { store, db } = await openAt(place)
      t.after(() => store.close())
      // The step alone: later ones have run before the log was made old.
      await eventAuthors.up(db, typesOf(place), db)
      const list = async (workspaceId: string, filter = {}) => {
        const run = { workspaceId, limit: 9, beyond: undefined, ...filter }
        const { items } = await store.read.events.run(run)
        return items.map(({ at, actor }) => [at - NOW, actor.kind, actor.id, actor.name])
      }
      const [system, ofToken] = [
        ['system', null, 'command line'] as const,
        ['token', token, 'bench'] as const,
      ]
      const inOne = [
        [3, ...system],
        [1, ...ofToken],
        [0, ...system],
      ]
      assert.deepEqual(await list(one), inOne)
      assert.deepEqual(await list(one, { subjectId: subject }), inOne)
      assert.deepEqual(await list(one, { actorId: token }), [[1, ...ofToken]])
      assert.deepEqual(await list(other), [[2, ...ofToken]])
      const end = await store.read.events.end()
      await append(store, commandLine(one), Date.now() * 1_000)
      const { events: added } = await store.read.events.since(end, 9)
      assert.deepEqual(
        added.map(({ sequence }) => sequence),
        [6],
        'no number is assigned again',
      )
      assert.equal((await db.selectFrom('event_authors').selectAll().execute()).length, 3)
    })
  }
})

function quote(value: string | null): string {
  return value === null ? 'null' : `'${value}'`
}

/** Makes a database of the version before authors were numbered, and runs statements on it. */
async function makeOldLog(place: Place, statements: readonly string[]): Promise<void> {
  const { store } = await openAt(place)
  await store.close()
  await execute(
    place,
    'drop table events',
    'drop table event_authors',
    ...(await statementsOf(place)),
    ...statements,
  )
}

function typesOf({ databaseUrl }: Place): ColumnTypes {
  return databaseUrl === undefined ? SQLITE_TYPES : POSTGRES_TYPES
}

/** The statements that created the log then, on the place's engine. */
async function statementsOf(place: Place): Promise<readonly string[]> {
  const statements: string[] = []
  const connection: DatabaseConnection = {
    async executeQuery({ sql }: CompiledQuery) {
      statements.push(sql)
      return { rows: [] }
    },
    async *streamQuery() {},
  }
  const db = kyselyOver(connection)
  for (const { up } of [events, eventSubjects]) await up(db, typesOf(place), db)
  return statements
}

import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { after, before, describe, type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import pg from 'pg'
import { SCHEMA_VERSION } from '../../src/app/database/migrations/migrate.ts'
import { ENGINES, type Engine, type Place } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { execute } from '../support/execute.ts'
import { INHERITED_ENV } from '../support/inherited-env.ts'
import { runCli } from '../support/run-cli.ts'
import { openAt } from '../support/store.ts'
import { addHome, addLink } from './samples.ts'

const OPENER = fileURLToPath(new URL('./open-store-process.ts', import.meta.url))
const KILLER = fileURLToPath(new URL('../support/kill-at-statement.ts', import.meta.url))
const PROCESSES = 5
/** A small process that opens the store. */
const OPEN = ['workspace', 'list', '--json']

async function newPlace(t: TestContext, engine: Engine): Promise<Place> {
  const place = await engine.createPlace()
  t.after(() => place.remove())
  return place
}

/** Expects that the database has this program's whole schema, applied once, and that it works. */
async function assertUsable(place: Place): Promise<void> {
  const { store, db } = await openAt(place)
  const rows = await db.selectFrom('schema_migrations').select('version').execute()
  assert.deepEqual(
    rows.map(({ version }) => version).sort((a, b) => a - b),
    Array.from({ length: SCHEMA_VERSION }, (_, index) => index + 1),
  )
  await addLink(store, await addHome(store), { tags: ['works'] })
  await store.close()
}

/** Starts several processes that open the store at the same time; each must succeed. */
async function startAll(place: Place): Promise<void> {
  const env = { ...INHERITED_ENV, ...place.env }
  const start = () => promisify(execFile)(process.execPath, [OPENER], { env })
  await Promise.all(Array.from({ length: PROCESSES }, start))
}

/** Starts a process that opens the store and is killed when it reaches a statement. */
async function startAndKillAt(place: Place, statement: string, when: string): Promise<void> {
  const child = spawn(process.execPath, ['--import', KILLER, OPENER], {
    env: { ...INHERITED_ENV, ...place.env, KILL_AT: statement, KILL_WHEN: when },
    stdio: 'ignore',
  })
  const [, signal] = await once(child, 'exit')
  assert.equal(signal, 'SIGKILL', `it never came to: ${statement}`)
}

for (const engine of ENGINES) {
  describe(`the schema on ${engine.title}`, () => {
    test('is created in an empty database, and found there by the next start', async (t) => {
      const place = await newPlace(t, engine)
      await assertUsable(place)
      await assertUsable(place)
    })

    test(`is created once by ${PROCESSES} processes that start at the same time`, async (t) => {
      for (let round = 0; round < 2; round += 1) {
        const place = await newPlace(t, engine)
        await startAll(place)
        await assertUsable(place)
      }
    })

    const moments: { statement: string; when: 'before' | 'after' }[] = [
      { statement: 'create table links', when: 'after' },
      { statement: 'insert into "schema_migrations"', when: 'before' },
      { statement: 'commit', when: 'before' },
      { statement: 'commit', when: 'after' },
    ]
    for (const { statement, when } of moments) {
      test(`is completed after a process was killed ${when} "${statement}"`, async (t) => {
        const place = await newPlace(t, engine)
        await startAndKillAt(place, statement, when)
        await assertUsable(place)
      })
    }

    const unreleased = {
      'has no column served_from': ['alter table schema_migrations drop column served_from'],
      'has tags that refer to their links': [
        'drop table link_tags',
        `create table link_tags (
          workspace_id text not null,
          link_seq bigint not null references workspaces_of_links (seq) on delete cascade
        )`,
      ],
    }
    for (const [what, statements] of Object.entries(unreleased)) {
      test(`is refused and left unchanged when it ${what}, as before the first release`, async (t) => {
        const place = await newPlace(t, engine)
        await assertUsable(place)
        await execute(
          place,
          'create table workspaces_of_links (seq bigint primary key)',
          ...statements,
        )
        const untouched = await contents(place)
        await assert.rejects(openAt(place), /20 or 21 November 2026.*cannot be upgraded/)
        assert.deepEqual(await contents(place), untouched)
      })
    }

    test('is refused and left unchanged when it is newer than the program', async (t) => {
      const place = await newPlace(t, engine)
      await assertUsable(place)
      await execute(
        place,
        `insert into schema_migrations values (${SCHEMA_VERSION + 1}, 'expanded', 1, ${SCHEMA_VERSION})`,
        `insert into schema_migrations values (${SCHEMA_VERSION + 2}, 'contracted', 1, ${SCHEMA_VERSION + 1})`,
        'create table future (x integer)',
        'drop table idempotency',
      )
      const untouched = await contents(place)
      const { code, stderr } = await runCli(OPEN, place.env)
      assert.notEqual(code, 0)
      assert.match(stderr, new RegExp(`schema version ${SCHEMA_VERSION + 2}.*newer release`))
      await assert.rejects(openAt(place), /newer release/)
      assert.deepEqual(await contents(place), untouched)
    })
  })
}

describe('a migration on PostgreSQL', () => {
  let place: Place
  let blocker: pg.Client
  before(async () => {
    const engine = ENGINES.find(({ name }) => name === 'PostgreSQL')
    assert.ok(engine !== undefined)
    place = await engine.createPlace()
    blocker = new pg.Client(place.databaseUrl)
    await blocker.connect()
  })
  after(async () => {
    await blocker.end()
    await place.remove()
  })

  test('is repeated by a waiting process when the process that was running it is killed', async () => {
    // Another transaction is creating a table of the same name: the migration waits until it ends.
    await blocker.query('begin')
    await blocker.query('create table idempotency (x integer)')
    const child = spawn(process.execPath, [OPENER], {
      env: { ...INHERITED_ENV, ...place.env },
      stdio: 'ignore',
    })
    const exited = once(child, 'exit')
    await eventually(async () => {
      // Within a transaction the view would keep showing its first snapshot.
      await blocker.query('select pg_stat_clear_snapshot()')
      const { rows } = await blocker.query(`select 1 from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'
          and query like 'create table idempotency%'`)
      assert.equal(rows.length, 1)
    })
    const waiting = promisify(execFile)(process.execPath, [OPENER], {
      env: { ...INHERITED_ENV, ...place.env },
    })
    child.kill('SIGKILL')
    await exited
    await blocker.query('rollback')
    await waiting
    await assertUsable(place)
  })
})

describe('a SQLite database whose process was killed', () => {
  test(`is opened by ${PROCESSES} processes at the same time`, async (t) => {
    const engine = ENGINES.find(({ name }) => name === 'SQLite')
    assert.ok(engine !== undefined)
    const place = await newPlace(t, engine)
    await startAndKillAt(place, 'select "name", "sql"', 'after')
    await startAll(place)
  })
})

/** Everything in a database: the file's bytes, or the catalogue and every row. */
async function contents(place: Place): Promise<unknown> {
  if (place.databaseUrl === undefined) {
    return readFileSync(path.join(place.dataDir, 'terse.db')).toString('base64')
  }
  const client = new pg.Client(place.databaseUrl)
  await client.connect()
  const { rows } = await client.query(`
    select c.relname, c.relkind, c.relfilenode, a.attname, a.atttypid,
      case when c.relkind = 'r' then query_to_xml('select * from ' || c.oid::regclass, true, true, '')::text end as rows
    from pg_class c left join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace = 'public'::regnamespace order by 1, 4`)
  await client.end()
  return rows
}

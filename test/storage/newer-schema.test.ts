import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import pg from 'pg'
import { SCHEMA_VERSION } from '../../src/app/database/migrations/migrate.ts'
import type { OpenedStore } from '../../src/app/database/opened-store.ts'
import type { ClickWriter } from '../../src/clicks/click-writer.ts'
import { rawClicksFolder } from '../../src/clicks/store/sqlite/raw-click-files.ts'
import { startOfDay } from '../../src/clicks/tally/click-day.ts'
import { openWriterAt, takeClicks } from '../support/click-writers.ts'
import { someClick } from '../support/clicks.ts'
import { ENGINES, type Place } from '../support/engines.ts'
import { openAt } from '../support/store.ts'
import { everyRead, everyWrite } from './every-call.ts'
import { addHome, addLink } from './samples.ts'

const NEXT = `insert into schema_migrations (version, name, applied_at, served_from)
  values (${SCHEMA_VERSION + 1}, 'only expands', 1, ${SCHEMA_VERSION})`

/**
 * What a later release may add to a database that this one still serves: columns in every table, a
 * new table.
 */
async function expand(place: Place): Promise<void> {
  const added = (table: string) => [
    `alter table "${table}" add column added_later text`,
    `alter table "${table}" add column added_too bigint not null default 7`,
  ]
  const made = ['create table made_later (id bigint primary key)', NEXT]
  if (place.databaseUrl === undefined) {
    const raw = rawClicksFolder(place.dataDir)
    const files = ['terse.db', 'clicks.db', ...readdirSync(raw).map((name) => path.join(raw, name))]
    for (const name of files.filter((name) => name.endsWith('.db'))) {
      const database = new DatabaseSync(path.resolve(place.dataDir, name), { timeout: 10_000 })
      const rows = database.prepare("select name from sqlite_schema where type = 'table'").all()
      const tables = rows.map((row) => String(row.name)).filter((table) => !/^sqlite_/.test(table))
      for (const statement of tables.flatMap(added)) database.exec(statement)
      if (name === 'terse.db') for (const statement of made) database.exec(statement)
      database.close()
    }
    return
  }
  const client = new pg.Client(place.databaseUrl)
  await client.connect()
  const { rows } = await client.query(`select relname from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`)
  for (const statement of [...rows.flatMap(({ relname }) => added(relname)), ...made]) {
    await client.query(statement)
  }
  await client.end()
}

for (const engine of ENGINES) {
  describe(`a schema that a newer release has only expanded, on ${engine.title}`, () => {
    test('is served by this release, also by running processes, and left unchanged', async (t) => {
      const place = await engine.createPlace()
      const opened: OpenedStore[] = []
      const writers: ClickWriter[] = []
      t.after(async () => {
        for (const { store } of opened) await store.close()
        await Promise.all(writers.map((writer) => writer.close()))
        await place.remove()
      })
      const open = async () => {
        const store = await openAt(place)
        opened.push(store)
        const writer = await openWriterAt(place)
        writers.push(writer)
        return { ...store, writer }
      }

      /** Runs every store method, and clicks a link. */
      const workOut = async ({ store, writer }: Awaited<ReturnType<typeof open>>) => {
        const home = await addHome(store)
        const outcomes: Record<string, string> = {}
        const note = async (name: string, call: Promise<unknown>) => {
          // Some of the samples match no row, on either schema.
          outcomes[name] = await call.then(
            () => 'done',
            (error) => String(error.name),
          )
        }
        for (const [name, write] of Object.entries(everyWrite(home))) {
          await note(name, store.write(write))
        }
        for (const [name, read] of Object.entries(everyRead(home))) {
          await note(name, read(store.read))
        }
        const kept = await addHome(store)
        const link = await addLink(store, kept, { tags: ['clicked'] })
        await takeClicks(writer, [someClick({ at: startOfDay(20_000) + 1, link_seq: link.seq })])
        const found = await store.read.links.findById(kept.workspace_id, link.id)
        assert.equal(found?.clicks, 1)
        assert.deepEqual(found?.tags, ['clicked'])
        return outcomes
      }

      const before = await open()
      const usual = await workOut(before)
      await expand(place)
      assert.deepEqual(await workOut(before), usual)
      const after = await open()
      assert.deepEqual(await workOut(after), usual)
      const versions = await after.db
        .selectFrom('schema_migrations')
        .select(['version', 'name'])
        .orderBy('version', 'desc')
        .execute()
      assert.equal(versions.length, SCHEMA_VERSION + 1)
      assert.equal(versions[0]?.name, 'only expands')
    })
  })
}

import assert from 'node:assert/strict'
import { appendFileSync, mkdirSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import type { ClickWriter } from '../../src/clicks/click-writer.ts'
import { DrainProgress } from '../../src/clicks/ingest/drain-messages.ts'
import { Drainer } from '../../src/clicks/ingest/drainer.ts'
import { segmentFile } from '../../src/clicks/journal/journal-folder.ts'
import type { ClickLedger } from '../../src/clicks/store/click-intents.ts'
import { openClickHouseWriter } from '../../src/clicks/store/clickhouse/click-writer.ts'
import { openPostgresClickWriter } from '../../src/clicks/store/postgres/click-writer.ts'
import { RawClickQuota } from '../../src/clicks/store/raw-click-quota.ts'
import { openSqliteClickWriter } from '../../src/clicks/store/sqlite/click-writer.ts'
import { dayOf } from '../../src/clicks/tally/click-day.ts'
import { systemClock } from '../../src/platform/time/clock.ts'
import type { ClickHouseAccess } from '../../src/storage/clickhouse/clicks-url.ts'
import { countedFile } from '../../src/storage/sqlite/data-files.ts'
import { clicksFrom } from '../clicks/some-clicks.ts'
import { addHome, addLink, unique } from '../storage/samples.ts'
import { encodeFrame } from '../support/click-frames.ts'
import { type ClickhouseServer, createClickhouse } from '../support/clickhouse/server.ts'
import { clicksAt, createFolder } from '../support/engines.ts'
import { describeStore } from '../support/store.ts'

const NOON = Date.UTC(2026, 10, 21, 12) * 1_000

/** Where a process ends while it writes a batch. */
const STEPS = ['before the insert', 'after the insert', 'after the commit'] as const
type Step = (typeof STEPS)[number]

class Crash extends Error {}

let server: ClickhouseServer

before(async () => {
  server = await createClickhouse()
  await server.start()
})
after(() => server.remove())

describeStore('clicks in ClickHouse', (at) => {
  let access: ClickHouseAccess
  let database: string
  let link: number

  before(async () => {
    database = unique('clicks').replaceAll('-', '_')
    await server.query(`create database ${database}`)
    access = clicksAt(server.url(database), server.password)
    const writer = openWriter()
    await writer.maintain(dayOf(NOON), undefined)
    await writer.close()
    link = (await addLink(at.store, await addHome(at.store))).seq
  })

  /** Opens a writer as a process does that ends at a step. */
  function openWriter(crash?: Step): ClickWriter {
    const rawQuota = new RawClickQuota({ rawPerMinute: 0, onRawRefused: () => {} })
    const options = { rawQuota, retentionDays: 0, onWithoutLink: () => {}, onError: assert.ifError }
    const { dataDir, databaseUrl: url } = at.place
    const ledger =
      url === undefined
        ? openSqliteClickWriter(dataDir, options)
        : openPostgresClickWriter({ ...options, url })
    return openClickHouseWriter(access, { ...options, ledger: endingAt(ledger, crash) })
  }

  function openJournal() {
    const id = crypto.randomUUID()
    const folder = path.join(createFolder(), id)
    mkdirSync(folder)
    let last = NOON
    return {
      id,
      folder,
      append(clicks: number): void {
        appendFileSync(
          segmentFile(folder, 1),
          encodeFrame(
            clicksFrom(last, clicks, link).map((click) => ({
              ...click,
              country: 'DE',
              visitor: click.at,
            })),
          ),
        )
        last += clicks
      },
      /** Drains it as a process of its own. */
      async drain(crash?: Step): Promise<void> {
        const writer = openWriter(crash)
        const drainer = new Drainer({
          writer,
          clock: systemClock(),
          journal: { id, folder },
          activeSegment: () => 1,
          progress: new DrainProgress(),
          keepMs: Number.POSITIVE_INFINITY,
          onError: assert.ifError,
          onDamage: ({ bytes }) => assert.fail(`${bytes} damaged bytes`),
        })
        try {
          await drainer.drain()
        } finally {
          await writer.close()
        }
      },
    }
  }

  async function counted(): Promise<Record<string, number>> {
    const sum = async (sql: string) => Number(await server.query(sql.replaceAll('@', database)))
    const row = await at.db
      .selectFrom('link_clicks')
      .select('clicks')
      .where('link_seq', '=', link)
      .executeTakeFirst()
    return {
      link: Number(row?.clicks ?? 0),
      clicks: await sum('select sum(count) from @.clicks'),
      live: await sum('select sum(count) from @.live_clicks'),
      blocks: await sum('select sum(visits) from @.click_blocks'),
      ...Object.fromEntries(
        await Promise.all(
          [0, 1, 2].map(async (scope) => [
            `scope ${scope}`,
            await sum(`select sum(persons) from @.click_counts where scope = ${scope}`),
          ]),
        ),
      ),
      values: await sum(`select sum(persons) from @.click_values
        where scope = 2 and dimension = 'country'`),
    }
  }

  async function assertAdded(before: Record<string, number>, clicks: number): Promise<void> {
    const expected = Object.entries(before).map(([name, count]) => [name, count + clicks])
    assert.deepEqual(await counted(), Object.fromEntries(expected))
  }

  for (const step of STEPS) {
    test(`counts each click once when a process ends ${step} and more clicks follow`, async () => {
      const earlier = await counted()
      const journal = openJournal()
      journal.append(1_000)
      await assert.rejects(journal.drain(step), Crash)
      journal.append(500)
      await assert.rejects(journal.drain(step), Crash)
      journal.append(250)
      await journal.drain()
      await assertAdded(earlier, 1_750)
      await journal.drain()
      await assertAdded(earlier, 1_750)
    })
  }

  test('lets two processes drain the same journal at the same time', async () => {
    const earlier = await counted()
    const journal = openJournal()
    for (let round = 0; round < 5; round += 1) {
      journal.append(300)
      await Promise.all([journal.drain(), journal.drain()])
    }
    await assertAdded(earlier, 1_500)
  })

  test('counts each click once when the server ends in the middle of inserts', async () => {
    const earlier = await counted()
    const journal = openJournal()
    for (let round = 0; round < 4; round += 1) {
      journal.append(2_000)
      const draining = journal.drain().catch(() => {})
      await new Promise((resolve) => setTimeout(resolve, 20 * round))
      await server.crash()
      await draining
      await server.start()
    }
    await journal.drain()
    await assertAdded(earlier, 8_000)
  })

  test('counts in the main database only, after that was restored to an older state', async (t) => {
    if (at.place.databaseUrl !== undefined) return t.skip('a row is as old on each engine')
    const earlier = await counted()
    const journal = openJournal()
    journal.append(100)
    await journal.drain()
    const database = new DatabaseSync(countedFile(at.place.dataDir), { timeout: 5_000 })
    t.after(() => database.close())
    const [positions, counters] = ['journal_positions', 'link_clicks'].map((table) =>
      database.prepare(`select * from ${table}`).all(),
    )
    for (const clicks of [70, 50, 30]) {
      journal.append(clicks)
      await journal.drain()
    }
    journal.append(20)
    await assert.rejects(journal.drain('after the insert'), Crash)
    const restore = (table: string, rows: readonly Record<string, unknown>[] = []) => {
      database.exec(`delete from ${table}`)
      for (const row of rows) {
        const marks = Object.keys(row).map(() => '?')
        const insert = database.prepare(`insert into ${table} values (${marks})`)
        insert.run(...(Object.values(row) as (string | number)[]))
      }
    }
    database.exec('begin immediate')
    restore('journal_positions', positions)
    restore('link_clicks', counters)
    restore('click_intents')
    database.exec('commit')
    journal.append(10)
    await journal.drain()
    await assertAdded(earlier, 280)
  })
})

/** Returns a ledger with which a batch fails at a step, as if the process had ended. */
function endingAt(
  ledger: ClickWriter & ClickLedger,
  step: Step | undefined,
): ClickWriter & ClickLedger {
  return new Proxy(ledger, {
    get(target, name) {
      const value = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      return async (...given: unknown[]) => {
        if (name === 'commit' && step === 'after the insert') throw new Crash()
        const result = await value.apply(target, given)
        if (name === 'begin' && step === 'before the insert') throw new Crash()
        if (name === 'commit' && step === 'after the commit') throw new Crash()
        return result
      }
    },
  })
}

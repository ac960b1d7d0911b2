import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { CLICK_DIMENSIONS, type ClickDimension } from '../../src/clicks/click.ts'
import type { DayOfClicks } from '../../src/clicks/report/day-of-clicks.ts'
import { openClickDatabase } from '../../src/clicks/store/clickhouse/click-database.ts'
import { clickHouseDays } from '../../src/clicks/store/clickhouse/click-days.ts'
import { eraseClicks, maintainClicks } from '../../src/clicks/store/clickhouse/erase-clicks.ts'
import { startOfDay } from '../../src/clicks/tally/click-day.ts'
import type { ClickHouse } from '../../src/storage/clickhouse/clickhouse.ts'
import { addHome, addLink } from '../storage/samples.ts'
import { openWriterAt, takeClicks } from '../support/click-writers.ts'
import { someClick } from '../support/clicks.ts'
import { ENGINES, type Place, SQLITE } from '../support/engines.ts'
import { formSetting } from '../support/long-form.ts'
import { SEED } from '../support/random.ts'
import { openAt } from '../support/store.ts'

const WORKSPACE = '11111111-2222-4333-8444-555555555555'
const JOURNAL = 'bbbbbbbb-cccc-4ddd-8eee-ffffffffffff'
const LINKS = [1, 2, 3]
const SOME: readonly ClickDimension[] = ['source', 'city']
/** 2025-12-30. Each test has three days of its own: two that are folded, and one that is kept. */
const FIRST_DAY = 20_452
const DAYS = 3
/** A fold is ended at one of so many statements. */
const SHARE = formSetting('CLICKHOUSE_SHARE')

class Crash extends Error {}

describe('folding single clicks', () => {
  let place: Place
  let db: ClickHouse
  let nextDay = FIRST_DAY
  let blocks = 0

  before(async () => {
    const engine = ENGINES.find(({ name }) => name === SQLITE.name)
    assert.ok(engine)
    place = await engine.createMigratedPlace()
    assert.ok(place.clicks)
    db = openClickDatabase(place.clicks, { timeoutMs: 20_000, connectionsMax: 4 })
  })

  after(async () => {
    await db.close()
    await place.remove()
  })

  /** Inserts 200 clicks of each day, of people and of others, and returns the first day. */
  async function insertDays(): Promise<number> {
    const first = nextDay
    nextDay += DAYS
    await insert(startOfDay(first), DAYS * 200, startOfDay(1) / 200)
    return first
  }

  async function insert(fromMicros: number, clicks: number, stepMicros: number): Promise<void> {
    blocks += 1
    await db.command(
      `insert into incoming_clicks (block, begun_at, workspace, link, kept, at, keyspace, flags, count,
        visitor, country, os, source, label, city)
      select '${JOURNAL} 1 ${blocks} 1 ${blocks + 1}', now64(6), '${WORKSPACE}',
        1 + number % 7 % ${LINKS.length} as link_number, number % 2, {from:Int64} + number * {step:Int64}, 7,
        number % 5 = 0 ? 1 : 0, 1 + number % 2, if(link_number = 3 and number % 7 = 0, 0, 1 + number % 11),
        ['DE', 'FR', ''][1 + number % 3], ['iOS', 'Windows'][1 + number % 2],
        ['direct', 'qr'][1 + (number % 4 = 0)], ['', 'é', 'b'][1 + intDiv(number, 3) % 3],
        concat('city ', toString(number % 13))
      from numbers({clicks:UInt32})`,
      { params: { from: fromMicros, step: stepMicros, clicks } },
    )
  }

  async function read(
    first: number,
    dimensions: readonly ClickDimension[] = SOME,
  ): Promise<DayOfClicks[][]> {
    const days = clickHouseDays(db)
    const charts: DayOfClicks[][] = []
    for (const linkSeq of LINKS) {
      for (const [index, dimension] of dimensions.entries()) {
        const scope = { kind: 'link', workspaceId: WORKSPACE, linkSeq } as const
        const slots = index % 2 === 0
        const found = await days.readDays(scope, first, first + DAYS - 1, { dimension, slots })
        charts.push(found.map((day) => ({ ...day, values: new Map([...day.values].sort()) })))
      }
    }
    return charts
  }

  const fold = (first: number, on = db) => maintainClicks(on, 0, first + DAYS - 1)

  async function singleClicks(first: number): Promise<number> {
    const [found] = await db.rows<{ clicks: number }>(
      'select count() as clicks from clicks where at < {to:Int64}',
      { params: { to: startOfDay(first + DAYS - 1) } },
    )
    return found?.clicks ?? 0
  }

  /** A database whose process ends after so many statements that change something. */
  function failingAfter(statement: number): ClickHouse {
    let count = 0
    const command: ClickHouse['command'] = async (...of) => {
      await db.command(...of)
      count += 1
      if (count === statement) throw new Crash()
    }
    return replacing(command)
  }

  function replacing(command: ClickHouse['command']): ClickHouse {
    return new Proxy(db, {
      get: (target, name) => {
        if (name === 'command') return command
        const value = Reflect.get(target, name)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
  }

  /** Ends a fold at its statements, and checks charts after that and after it is run again. */
  async function interrupt(
    prepare: () => Promise<number>,
    chartsOf: (first: number, isWhole: boolean) => Promise<unknown>,
  ): Promise<void> {
    let hasEnded = false
    for (let statement = 1 + (SEED % SHARE); !hasEnded; statement += SHARE) {
      const first = await prepare()
      const charts = [await chartsOf(first, false), await chartsOf(first, true)]
      hasEnded = await fold(first, failingAfter(statement)).then(
        () => true,
        (error) => {
          assert.ok(error instanceof Crash, error)
          return false
        },
      )
      const where = `after statement ${statement}`
      assert.deepEqual(await chartsOf(first, false), charts[0], where)
      await fold(first)
      assert.deepEqual(await chartsOf(first, true), charts[1], where)
      assert.equal(await singleClicks(first), 0, where)
    }
  }

  test('leaves charts of links as they were, and no single click of folded days', async () => {
    const first = await insertDays()
    const charts = await read(first, CLICK_DIMENSIONS)
    assert.ok(charts.every((days) => days.length === DAYS))
    await fold(first)
    assert.deepEqual(await read(first, CLICK_DIMENSIONS), charts)
    assert.equal(await singleClicks(first), 0)
    const [kept] = await db.rows<{ clicks: number }>('select count() as clicks from clicks')
    assert.equal(kept?.clicks, 200)
  })

  test('keeps no visitor of a link, and no values together except of one click in a quarter hour', async () => {
    const first = await insertDays()
    await fold(first)
    const params = { from: first, to: first + DAYS - 2 }
    const [visitors] = await db.rows(
      `select sum(length(toString(finalizeAggregation(visitors)))) = count() as are_empty,
        max(finalizeAggregation(visitors)) as most
      from click_visitors where scope = 0 and day between {from:Int32} and {to:Int32}`,
      { params },
    )
    assert.deepEqual(visitors, { are_empty: 1, most: 0 })
    const unsorted = await db.rows(
      `select 1 from link_days
      where arrayZip(dimensions, values) != arraySort(arrayZip(dimensions, values))`,
    )
    assert.deepEqual(unsorted, [])
  })

  test('keeps nothing of a link that was deleted', async () => {
    const first = await insertDays()
    await eraseClicks(db, { kind: 'links', linkSeqs: [2] })
    await fold(first)
    for (const [table, link] of [
      ['link_days', 'link'],
      ['click_visitors', 'scope = 0 and subject'],
    ]) {
      assert.deepEqual(await db.rows(`select 1 from ${table} where ${link} = 2`), [])
    }
  })

  test('leaves charts as they were when it ends at any statement, and when it runs again', async () => {
    await interrupt(insertDays, (first) => read(first))
  })

  test('adds clicks that come after their day was folded, also when that is interrupted', async () => {
    const prepare = async () => {
      const first = await insertDays()
      await fold(first)
      await insert(startOfDay(first) + 1, 150, startOfDay(2) / 150 - 1)
      return first
    }
    // Their visitors count again, and while they are being added they are in no chart of values.
    await interrupt(prepare, async (first, isWhole) => {
      return (
        isWhole &&
        (await read(first)).map((days) => days.map(({ total, values }) => ({ total, values })))
      )
    })
  })

  test('keeps a click that comes while its day is folded', async (t) => {
    const { store } = await openAt(place)
    t.after(() => store.close())
    const home = await addHome(store)
    let link = await addLink(store, home)
    while (LINKS.includes(link.seq)) link = await addLink(store, home)
    const { seq: linkSeq, workspace_id: workspaceId } = link
    const writer = await openWriterAt(place, { retentionDays: 1 })
    t.after(() => writer.close())
    const first = await insertDays()
    const take = (dayOfWriting: number) =>
      takeClicks(
        writer,
        [someClick({ at: startOfDay(first), link_seq: linkSeq, city: 'late', visitor: 7 })],
        { atMicros: startOfDay(dayOfWriting) },
      )
    await take(first)
    let inserts = 0
    const command: ClickHouse['command'] = async (query, options) => {
      await db.command(query, options)
      if (!query.startsWith('insert into link_days')) return
      inserts += 1
      if (inserts === 1) await take(first + DAYS)
    }
    await fold(first, replacing(command))
    assert.equal(await singleClicks(first), 0)
    const scope = { kind: 'link', workspaceId, linkSeq } as const
    const options = { dimension: 'city', slots: true } as const
    const [day] = await clickHouseDays(db).readDays(scope, first, first, options)
    assert.equal(day?.values.get('late')?.persons, 2)
    assert.equal(day?.total.persons, 2)
    const [live] = await db.rows(
      'select count() as clicks from live_clicks where link = {link:UInt64}',
      { params: { link: linkSeq } },
    )
    assert.deepEqual(live, { clicks: 2 })
  })

  test('counts each click once when two run at the same time', async () => {
    const firsts: number[] = []
    for (let round = 0; round < 5; round += 1) {
      firsts.push(await insertDays())
    }
    const charts = await Promise.all(firsts.map((first) => read(first)))
    const last = firsts.at(-1) ?? 0
    await Promise.all([fold(last), fold(last)])
    assert.deepEqual(await Promise.all(firsts.map((first) => read(first))), charts)
    assert.equal(await singleClicks(last), 0)
  })
})

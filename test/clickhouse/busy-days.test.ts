import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { ClickScope } from '../../src/clicks/report/day-of-clicks.ts'
import { sumBusyDays } from '../../src/clicks/store/clickhouse/busy-days.ts'
import { openClickDatabase } from '../../src/clicks/store/clickhouse/click-database.ts'
import { clickHouseDays } from '../../src/clicks/store/clickhouse/click-days.ts'
import { eraseClicks, maintainClicks } from '../../src/clicks/store/clickhouse/erase-clicks.ts'
import { startOfDay } from '../../src/clicks/tally/click-day.ts'
import { ValueTotals } from '../../src/clicks/tally/values.ts'
import type { ClickHouse } from '../../src/storage/clickhouse/clickhouse.ts'
import { ENGINES, type Place, SQLITE } from '../support/engines.ts'

const JOURNAL = 'bbbbbbbb-cccc-4ddd-8eee-ffffffffffff'
/** 2026-01-10 */
const FIRST_DAY = 20_463
const DAYS = 6
const LAST_DAY = FIRST_DAY + DAYS - 1
/** The first has many clicks on each day, the second on every other day, the third on none. */
const LINKS = [1, 2, 3]
const KEYSPACE = 7
const SOME = ['referrer', 'source'] as const

describe('sums of busy days', () => {
  let place: Place
  let db: ClickHouse
  let blocks = 0

  before(async () => {
    const engine = ENGINES.find(({ name }) => name === SQLITE.name)
    assert.ok(engine)
    place = await engine.createMigratedPlace()
    assert.ok(place.clicks)
    db = openClickDatabase(place.clicks, { timeoutMs: 60_000, connectionsMax: 4 })
  })

  after(async () => {
    await db.close()
    await place.remove()
  })

  /** Inserts clicks of a link on a day, of people and others, with values of several dimensions and without. */
  async function insert(
    workspace: string,
    link: number,
    day: number,
    clicks: number,
  ): Promise<void> {
    blocks += 1
    await db.command(
      `insert into incoming_clicks (block, begun_at, workspace, link, kept, at, keyspace, flags, count,
        visitor, country, os, referrer, source, label, city)
      select '${JOURNAL} 1 ${blocks} 1 ${blocks + 1}', now64(6), '${workspace}', {link:UInt64}, 1,
        {from:Int64} + number * {step:Int64}, ${KEYSPACE}, number % 5 = 0 ? 1 : 0, 1 + number % 2,
        1 + number % 400, ['DE', 'FR', ''][1 + number % 3], ['iOS', 'Windows'][1 + number % 2],
        concat('site', toString(number % 90), '.example'), ['direct', 'qr'][1 + (number % 4 = 0)],
        ['', 'é', 'b'][1 + intDiv(number, 3) % 3], concat('city ', toString(number % 13))
      from numbers({clicks:UInt32})`,
      {
        params: { link, from: startOfDay(day), step: Math.floor(startOfDay(1) / clicks), clicks },
      },
    )
  }

  async function insertDays(workspace: string): Promise<void> {
    for (let day = FIRST_DAY; day <= LAST_DAY; day += 1) {
      await insert(workspace, 1, day, 600)
      await insert(workspace, 2, day, day % 2 === 0 ? 500 : 20)
      if (day % 5 === 0) await insert(workspace, 3, day, 30)
    }
  }

  function scopesOf(workspaceId: string): ClickScope[] {
    return [
      ...LINKS.map((linkSeq) => ({ kind: 'link', workspaceId, linkSeq }) as const),
      { kind: 'domain', workspaceId, keyspaceId: KEYSPACE },
      { kind: 'workspace', workspaceId },
    ]
  }

  /** Reads every kind of chart of all scopes. */
  async function charts(workspace: string): Promise<unknown[]> {
    const days = clickHouseDays(db)
    const found: unknown[] = []
    for (const scope of scopesOf(workspace)) {
      found.push(await days.readDays(scope, FIRST_DAY, LAST_DAY, { slots: false }))
      for (const dimension of SOME) {
        const totals = new ValueTotals()
        const options = { dimension, slots: false }
        await days.readDays(scope, FIRST_DAY, LAST_DAY, { ...options, totals })
        const sums: unknown[] = []
        totals.take((value, counts) => sums.push(JSON.stringify({ value, counts })))
        found.push(sums.sort())
        for (const values of [undefined, new Set(['site3.example', 'qr', '', 'direct'])]) {
          const read = await days.readDays(scope, FIRST_DAY, LAST_DAY, { ...options, values })
          found.push(read.map((day) => ({ ...day, values: new Map([...day.values].sort()) })))
        }
      }
    }
    return found
  }

  const sum = (on = db) => sumBusyDays(on, LAST_DAY + 1)

  async function summed(where = 'true'): Promise<string[]> {
    const rows = await db.rows<{ readonly name: string }>(
      `select distinct concat(toString(scope), ' ', toString(subject), ' ', toString(day)) as name
      from busy_days where ${where} order by name`,
    )
    return rows.map(({ name }) => name)
  }

  test('are of links, domains and workspaces with many clicks, and charts over them are the same', async () => {
    const workspace = '11111111-2222-4333-8444-000000000001'
    await insertDays(workspace)
    const before = await charts(workspace)
    await sum()
    const daysOf = (scope: number, subject: number) =>
      summed(`scope = ${scope} and subject = ${subject}`).then(({ length }) => length)
    assert.deepEqual(
      [await daysOf(0, 1), await daysOf(0, 2), await daysOf(0, 3), await daysOf(1, KEYSPACE)],
      [DAYS, DAYS / 2, 0, DAYS],
    )
    assert.deepEqual(await charts(workspace), before)
    // The days are read from their sums: they are the same when the rest is gone.
    await db.command(
      `delete from click_values where workspace = '${workspace}' settings lightweight_deletes_sync = 1`,
    )
    await db.command(
      `delete from clicks where workspace = '${workspace}' and link = 1 settings lightweight_deletes_sync = 1`,
    )
    assert.deepEqual(await charts(workspace), before)
    await eraseClicks(db, { kind: 'links', linkSeqs: LINKS })
    await eraseClicks(db, { kind: 'workspace', workspaceId: workspace })
    assert.deepEqual(await summed(), [])
  })

  test('are read while they are complete, and made again after a late click', async () => {
    const workspace = '11111111-2222-4333-8444-000000000002'
    await insertDays(workspace)
    await sum()
    await insert(workspace, 1, FIRST_DAY + 3, 7)
    await insert(workspace, 2, FIRST_DAY + 3, 7)
    const late = await charts(workspace)
    await db.command('truncate table busy_days')
    assert.deepEqual(await charts(workspace), late)
    await sum()
    await insert(workspace, 1, FIRST_DAY + 4, 9)
    await sum()
    const made = await charts(workspace)
    await db.command('truncate table busy_days')
    assert.deepEqual(await charts(workspace), made)
    await eraseClicks(db, { kind: 'links', linkSeqs: LINKS })
    await eraseClicks(db, { kind: 'workspace', workspaceId: workspace })
  })

  test('made by two processes at once, or of folded clicks, are the same', async () => {
    const workspace = '11111111-2222-4333-8444-000000000003'
    await insertDays(workspace)
    const before = await charts(workspace)
    await Promise.all([sum(), sum()])
    assert.deepEqual(await charts(workspace), before)
    await maintainClicks(db, 0, FIRST_DAY + 4)
    assert.deepEqual(await charts(workspace), before)
    await db.command('truncate table busy_days')
    await sum()
    assert.equal((await summed('scope = 0 and subject = 1')).length, DAYS)
    assert.deepEqual(await charts(workspace), before)
    await eraseClicks(db, { kind: 'links', linkSeqs: LINKS })
    await eraseClicks(db, { kind: 'workspace', workspaceId: workspace })
  })

  test('of a link that is erased while they are made are deleted', async () => {
    const workspace = '11111111-2222-4333-8444-000000000004'
    await insertDays(workspace)
    /** The sums of a link come after it was erased. */
    let isErased = false
    const command: ClickHouse['command'] = async (...of) => {
      await db.command(...of)
      if (isErased) return
      isErased = true
      await db.command('create table made as busy_days')
      await db.command('insert into made select * from busy_days')
      await eraseClicks(db, { kind: 'links', linkSeqs: [1] })
      await db.command('insert into busy_days select * from made')
    }
    const erasing = new Proxy(db, {
      get: (target, name) => {
        if (name === 'command') return command
        const value = Reflect.get(target, name)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    await sum(erasing)
    assert.deepEqual(await summed('scope = 0 and subject = 1'), [])
    assert.equal((await summed('scope = 0 and subject = 2')).length, DAYS / 2)
  })
})

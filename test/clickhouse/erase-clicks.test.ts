import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { openClickDatabase } from '../../src/clicks/store/clickhouse/click-database.ts'
import { eraseClicks, maintainClicks } from '../../src/clicks/store/clickhouse/erase-clicks.ts'
import { CLICK_TABLES } from '../../src/clicks/store/clickhouse/schema.ts'
import { startOfDay } from '../../src/clicks/tally/click-day.ts'
import type { ClickHouse } from '../../src/storage/clickhouse/clickhouse.ts'
import { ENGINES, type Place, SQLITE } from '../support/engines.ts'

const ERASED = '11111111-2222-4333-8444-555555555555'
const KEPT = '66666666-7777-4888-9999-aaaaaaaaaaaa'
const JOURNAL = 'bbbbbbbb-cccc-4ddd-8eee-ffffffffffff'
/** The age of clicks that are not kept. */
const OLD_MICROS = startOfDay(100)
/** The tables with rows of a workspace's clicks, or of a link's. */
const TABLES = [
  'clicks',
  'live_clicks',
  'click_counts',
  'click_values',
  'click_visitors',
  'link_days',
]

describe('clicks in ClickHouse', () => {
  let place: Place
  let db: ClickHouse

  before(async () => {
    const engine = ENGINES.find(({ name }) => name === SQLITE.name)
    assert.ok(engine)
    place = await engine.createMigratedPlace()
    assert.ok(place.clicks)
    db = openClickDatabase(place.clicks, { timeoutMs: 20_000, connectionsMax: 2 })
  })

  after(async () => {
    await db.close()
    await place.remove()
  })

  let blocks = 0
  async function insert(workspace: string, link: number, at: number): Promise<void> {
    blocks += 1
    const row = {
      at,
      workspace,
      link,
      keyspace: link,
      kept: 1,
      count: 1,
      visitor: 9,
      country: 'DE',
    }
    const old = { ...row, at: at - OLD_MICROS, kept: 0, is_old: 1 }
    const block = `${JOURNAL} 1 ${blocks} 1 ${blocks + 1}`
    const text = [row, old]
      .map((click) => JSON.stringify({ ...click, block, begun_at: '2026-11-29 00:00:00' }))
      .join('\n')
    await db.insert('insert into incoming_clicks format JSONEachRow', Buffer.from(text))
  }

  async function rowsOf(workspace: string, link: number): Promise<Record<string, number>> {
    const found: Record<string, number> = {}
    for (const table of TABLES) {
      const where =
        table === 'link_days'
          ? `link = ${link}`
          : table.endsWith('clicks')
            ? `workspace = '${workspace}'`
            : `workspace = '${workspace}' or (scope = 0 and subject = ${link})`
      const [row] = await db.rows<{ rows: number }>(
        `select count() as rows from ${table} where ${where}`,
      )
      found[table] = row?.rows ?? 0
    }
    return found
  }

  test('are erased with their links and workspace, from the disk too after maintenance', async () => {
    const now = Date.now() * 1_000
    await insert(ERASED, 1, now)
    await insert(KEPT, 2, now)
    const kept = await rowsOf(KEPT, 2)
    assert.ok(Object.values(kept).every((rows) => rows > 0))
    await eraseClicks(db, { kind: 'links', linkSeqs: [1] })
    await eraseClicks(db, { kind: 'workspace', workspaceId: ERASED })
    await eraseClicks(db, { kind: 'workspace', workspaceId: ERASED })
    const none = Object.fromEntries(TABLES.map((table) => [table, 0]))
    assert.deepEqual(await rowsOf(ERASED, 1), none)
    assert.deepEqual(await rowsOf(KEPT, 2), kept)
    await maintainClicks(db, 0, undefined)
    const masked = await db.rows(
      `select name from system.parts
       where active and database = currentDatabase() and has_lightweight_delete`,
    )
    assert.deepEqual(masked, [])
    assert.deepEqual(await rowsOf(KEPT, 2), kept)
  })

  test('are all in tables that erasing knows', () => {
    const tables = CLICK_TABLES.map(({ name }) => name)
    // move.test.ts erases what was moved.
    const ofMoves = ['moved_days', 'moved_tallies', 'move_runs']
    // busy-days.test.ts erases what was added up.
    const others = ['busy_days', 'click_blocks', 'click_folds', 'incoming_clicks', ...ofMoves]
    assert.deepEqual(tables.sort(), [...TABLES, ...others].sort())
  })
})

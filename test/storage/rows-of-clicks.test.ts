import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { rebuildClicks } from '../../src/app/database/sqlite/rebuild-clicks.ts'
import { type Click, cappedClick } from '../../src/clicks/click.ts'
import { ClickColumns } from '../../src/clicks/click-columns.ts'
import { RawClickQuota } from '../../src/clicks/store/raw-click-quota.ts'
import { RawClickFiles, rawClicksFolder } from '../../src/clicks/store/sqlite/raw-click-files.ts'
import { examineFiles } from '../../src/data-files/examine-files.ts'
import { systemClock } from '../../src/platform/time/clock.ts'
import { openWriterAt } from '../support/click-writers.ts'
import { someClick } from '../support/clicks.ts'
import { type Place, SQLITE } from '../support/engines.ts'
import { openAt } from '../support/store.ts'
import { addHome, addLink } from './samples.ts'

const ROWS_PER_MINUTE = 5
const NOON = 20_500 * 86_400_000_000 + 12 * 3_600_000_000

describe('click files with folded rows', () => {
  let place: Place
  let clicks: readonly Click[]
  let owner: { workspace_id: string; keyspace_id: number }
  before(async () => {
    place = await SQLITE.createPlace()
    const { store } = await openAt(place)
    const { seq, workspace_id, keyspace_id } = await addLink(store, await addHome(store))
    await store.close()
    owner = { workspace_id, keyspace_id }
    clicks = [
      cappedClick(seq, NOON, 30),
      cappedClick(seq, NOON + 1, 12),
      ...Array.from({ length: 8 }, (_, n) => someClick({ at: NOON + 2 + n, link_seq: seq })),
    ]
  })
  after(() => place.remove())

  const batchFrom = (offset: number) => ({
    journalId: 'journal',
    from: offset === 0 ? undefined : { segment: 1, offset },
    to: { segment: 1, offset: offset + 1 },
    clicks: ClickColumns.of(clicks),
    atMicros: NOON,
  })
  const faults = () => examineFiles(place.dataDir).faults

  /** The sum of the links' counters. */
  async function countLinks(): Promise<number> {
    const { store, db } = await openAt(place)
    const rows = await db.selectFrom('link_clicks').select('clicks').execute()
    await store.close()
    return rows.reduce((sum, row) => sum + row.clicks, 0)
  }

  test('agree after each batch, and wherever a crash has left one of them behind', async () => {
    const writer = await openWriterAt(place, { rawPerMinute: ROWS_PER_MINUTE })
    assert.equal(await writer.write(batchFrom(0)), true)
    assert.deepEqual(faults(), [])

    const rows = new RawClickQuota({ rawPerMinute: ROWS_PER_MINUTE, onRawRefused: () => {} })
    const files = new RawClickFiles(rawClicksFolder(place.dataDir), rows)
    const isCurrent = async () => true
    const inserted = await files.insert({
      ...batchFrom(1),
      ownerOf: () => owner,
      isCurrent,
      oldestDay: 0,
      deadlineMs: 1_000,
    })
    files.close()
    assert.deepEqual([...(inserted ?? [])], [[20_500, ROWS_PER_MINUTE]])
    assert.deepEqual(faults(), [], 'the batch is not counted yet')

    assert.equal(await writer.write(batchFrom(1)), true)
    await writer.close()
    assert.deepEqual(faults(), [])
    assert.equal(await countLinks(), 16)
  })

  test('are left unchanged where the day agrees with its file', async () => {
    await rebuildClicks(place.dataDir, { days: 'differing', positionAfter: () => undefined })
    assert.equal(await countLinks(), 16)
  })

  test('are recounted by the number of clicks that each row stands for', async () => {
    await rebuildClicks(place.dataDir, { days: 'all', positionAfter: () => undefined })
    assert.equal(await countLinks(), 2 * (ROWS_PER_MINUTE - 1))
    const { store } = await openAt(place, { clock: systemClock() })
    const scope = { kind: 'workspace', workspaceId: owner.workspace_id } as const
    const [day] = await store.read.reports.readDays(scope, 20_500, 20_500, { slots: false })
    await store.close()
    assert.deepEqual(day?.total, { persons: 8, others: 84, slots: [] })
  })
})

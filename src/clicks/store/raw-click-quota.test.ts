import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { someClick } from '../../../test/support/clicks.ts'
import { type Click, cappedClick } from '../click.ts'
import { ClickColumns } from '../click-columns.ts'
import { RawClickQuota } from './raw-click-quota.ts'

const MINUTE = 60_000_000
const OWNER = { workspace_id: 'acme', keyspace_id: 1 }
const DELETED = 9

const clicks: readonly Click[] = [
  cappedClick(1, 0, 5),
  cappedClick(1, MINUTE - 1, 7),
  cappedClick(1, MINUTE, 2),
  someClick({ link_seq: 1, at: 1 }),
  someClick({ link_seq: 1, at: 2 }),
  someClick({ link_seq: DELETED, at: 3 }),
]

/** Plans the rows of these clicks and writes them. Returns the instant and count of each row. */
function rowsOf(quota: RawClickQuota, isImported: boolean): (readonly [number, number])[] {
  const columns = ClickColumns.of(clicks)
  const batch = { clicks: columns, ...(isImported && { imported: { lastClicks: new Map() } }) }
  const ownerOf = (linkSeq: number) => (linkSeq === DELETED ? undefined : OWNER)
  const rows = quota.plan(batch, columns.indexes(), ownerOf)
  quota.noteWritten(batch, columns.visits, rows)
  return rows.map(({ index, count }) => [columns.at[index] ?? 0, count])
}

describe('RawClickQuota', () => {
  test('gives a workspace so many rows a minute; capped clicks of a link and minute share one', () => {
    const refused: number[] = []
    const onRawRefused = (visits: number) => refused.push(visits)
    const quota = new RawClickQuota({ rawPerMinute: 2, onRawRefused })
    assert.deepEqual(rowsOf(quota, false), [
      [0, 12],
      [MINUTE, 2],
      [1, 1],
      [3, 1],
    ])
    assert.deepEqual(refused, [1])
  })

  test('gives each click of an import a row as it was, unless its link is deleted', () => {
    const quota = new RawClickQuota({ rawPerMinute: 2, onRawRefused: () => assert.fail() })
    const all = clicks.slice(0, 5).map(({ at, count }) => [at, count])
    for (let time = 0; time < 2; time += 1) assert.deepEqual(rowsOf(quota, true), all)
  })
})

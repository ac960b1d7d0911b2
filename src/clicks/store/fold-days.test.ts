import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Kysely } from 'kysely'
import { someClick } from '../../../test/support/clicks.ts'
import { contentsOfChunks, countClicks } from '../../../test/support/counted-clicks.ts'
import { ByteWriter } from '../../platform/bytes/bytes.ts'
import type { Schema } from '../../storage/schema.ts'
import type { Click } from '../click.ts'
import { ClickColumns } from '../click-columns.ts'
import { writeClick } from '../tally/day-format.ts'
import { type ClickRows, type DayRow, foldDays, PARTS } from './fold-days.ts'

/** Folding a day that stays small uses only `ClickRows`. */
const NO_DB = {} as Kysely<Schema>

/** Folds a day with these recent clicks, and without other parts. Returns what is written. */
async function fold(clicks: readonly Click[], parts: number): Promise<readonly DayRow[]> {
  const writer = new ByteWriter()
  const columns = ClickColumns.of(clicks)
  for (const index of clicks.keys()) writeClick(writer, columns, index)
  const key = { day: 0, scope: 0, subject: 1, workspace_id: '' }
  const written: DayRow[] = []
  const rows: ClickRows = {
    addToLinks: async () => {},
    appendToDays: async () => [],
    readDays: async (_, which) =>
      which === 'recent' ? [{ ...key, part: PARTS.recent, data: writer.take() }] : [],
    async writeDays(days) {
      written.push(...days)
    },
  }
  await foldDays({ db: NO_DB, rows }, [{ ...key, parts }])
  return written
}

describe('foldDays', () => {
  test('carries nothing over from a day with missing parts to the next day', async () => {
    const many = Array.from({ length: 400 }, (_, n) =>
      someClick({ at: 1, link_seq: 1, visitor: n + 1, referrer: `host-${n}.example` }),
    )
    await assert.rejects(fold(many, 1), /part 1 of a click day is missing/)
    const click = someClick({ at: 1, link_seq: 1, visitor: 1, country: 'DE' })
    const [row] = await fold([click], 0)
    assert.deepEqual(contentsOfChunks(row?.data ?? Buffer.of()), countClicks([click]))
  })
})

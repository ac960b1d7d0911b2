import { type Kysely, sql } from 'kysely'
import type { Click } from '../domain/clicks/click.ts'
import type { ClickStore } from '../domain/clicks/click-store.ts'
import type { Schema } from './schema.ts'
import { statement } from './statement.ts'

/**
 * Inserts of so many rows each, the largest first, with which any number of clicks is written in few
 * statements that are compiled once. The largest is below the engines' limits on parameters.
 */
const INSERTS = [256, 64, 16, 4, 1].map((rows) => ({ rows, insert: insertOf(rows) }))

/** @param rows of one statement; its parameters are the rows' values, one row after the other */
function insertOf(rows: number) {
  return statement((db, values: readonly number[]) => {
    const row = (index: number) => {
      const [at, link_seq, flags] = [0, 1, 2].map((column) => values[index * 3 + column] as number)
      return { at, link_seq, flags } as Pick<Click, 'at' | 'link_seq' | 'flags'>
    }
    return db.insertInto('clicks').values(Array.from({ length: rows }, (_, index) => row(index)))
  })
}

const addToLink = statement((db, tally: { linkSeq: number; count: number; last: number }) =>
  db
    .updateTable('links')
    .set((eb) => ({
      clicks: eb('clicks', '+', tally.count),
      last_click: sql<number>`case when last_click > ${tally.last} then last_click else ${tally.last} end`,
    }))
    .where('seq', '=', tally.linkSeq),
)

export function clickStore(db: Kysely<Schema>): ClickStore {
  return {
    async findPosition(journalId) {
      const row = await db
        .selectFrom('journal_positions')
        .select(['segment', 'position as offset'])
        .where('journal_id', '=', journalId)
        .executeTakeFirst()
      return row
    },

    async movePosition(journalId, from, to, atMicros) {
      const values = { segment: to.segment, position: to.offset, updated_at: atMicros }
      if (from === undefined) {
        const inserted = await db
          .insertInto('journal_positions')
          .values({ journal_id: journalId, ...values })
          .onConflict((conflict) => conflict.column('journal_id').doNothing())
          .returning('journal_id')
          .executeTakeFirst()
        return inserted !== undefined
      }
      const result = await db
        .updateTable('journal_positions')
        .set(values)
        .where('journal_id', '=', journalId)
        .where('segment', '=', from.segment)
        .where('position', '=', from.offset)
        .executeTakeFirst()
      return result.numUpdatedRows > 0n
    },

    async insert(clicks) {
      let start = 0
      for (const { rows, insert } of INSERTS) {
        for (; start + rows <= clicks.length; start += rows) {
          const chunk = clicks.slice(start, start + rows)
          await insert(
            db,
            chunk.flatMap(({ at, link_seq, flags }) => [at, link_seq, flags]),
          )
        }
      }
      for (const [linkSeq, { count, last }] of tallyByLink(clicks)) {
        await addToLink(db, { linkSeq, count, last })
      }
    },

    async countByFlags(linkSeq) {
      const rows = await db
        .selectFrom('clicks')
        .select(['flags', (eb) => eb.fn.countAll<number>().as('count')])
        .where('link_seq', '=', linkSeq)
        .groupBy('flags')
        .execute()
      return new Map(rows.map((row) => [row.flags, row.count]))
    },
  }
}

/** Clicks of people, added up for each link; in the order of the links, so that writers queue. */
function tallyByLink(clicks: readonly Click[]): [number, { count: number; last: number }][] {
  const tallies = new Map<number, { count: number; last: number }>()
  for (const click of clicks) {
    if (click.flags !== 0) continue
    const tally = tallies.get(click.link_seq)
    if (tally === undefined) tallies.set(click.link_seq, { count: 1, last: click.at })
    else {
      tally.count += 1
      tally.last = Math.max(tally.last, click.at)
    }
  }
  return [...tallies].sort(([a], [b]) => a - b)
}

import { Kysely, PostgresDialect, type SqlBool, sql } from 'kysely'
import { LinkNumbers, postgresLinkSequence } from '../../../links/store/index.ts'
import { numberArray } from '../../../platform/database/postgres/array-literal.ts'
import { openPool } from '../../../platform/database/postgres/pool.ts'
import type { Schema } from '../../../platform/database/schema.ts'
import { StaleRow } from '../../../platform/database/store.ts'
import type { ClickBatch, ClickWriter } from '../../click-writer.ts'
import { dayOf } from '../../tally/click-day.ts'
import { type BatchGrowth, growthOf } from '../batch-growth.ts'
import { foldDays, settleDays } from '../click-day-folder.ts'
import { findPosition, movePosition } from '../click-store.ts'
import { OwnerCache } from '../owner-cache.ts'
import type { RawClickRow, RawClickRows } from '../raw-click-rows.ts'
import { ClickPartitions } from './click-partitions.ts'
import { postgresClickRows } from './click-rows.ts'
import { insertRawClicks } from './raw-clicks.ts'

/** Few enough that other nodes do not wait long for the rows that all of them add to. */
const BATCH_MAX = 5_000
const CONNECTIONS_MAX = 2
/** Other nodes' batches may come first. */
const STATEMENT_TIMEOUT_MS = 10_000
const ATTEMPTS_MAX = 8

/** Connects to a database that is up to date. */
export function openPostgresClickWriter(options: {
  url: string
  rawRows: RawClickRows
  onError: (error: unknown) => void
}): ClickWriter {
  const pool = openPool({
    ...options,
    connectionsMax: CONNECTIONS_MAX,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
  })
  const db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) })
  const numbers = new LinkNumbers(postgresLinkSequence(db))
  const owners = new OwnerCache(
    db,
    (linkSeqs) => sql<SqlBool>`seq = any(${numberArray(linkSeqs)}::bigint[])`,
  )
  const partitions = new ClickPartitions(db)
  const ownerOf = (linkSeq: number) => owners.find(linkSeq)

  function takeOnce(
    batch: ClickBatch,
    growth: BatchGrowth,
    raw: readonly RawClickRow[],
  ): Promise<boolean> {
    return db.transaction().execute(async (tx) => {
      if (!(await movePosition(tx, batch))) return false
      await insertRawClicks(tx, raw)
      const rows = postgresClickRows(tx)
      // Rows that several nodes add to come last, and in the same order for all, so that none waits
      // long for another and no two for each other.
      await rows.addToLinks(growth.counts)
      await foldDays({ db: tx, rows }, await rows.appendToDays(growth.deltas))
      return true
    })
  }

  async function settle(today: number): Promise<void> {
    const days = await db
      .selectFrom('unsettled_days')
      .selectAll()
      .where('day', '<', today)
      .execute()
    for (const day of days) {
      const rows = (tx: Kysely<Schema>) => ({ db: tx, rows: postgresClickRows(tx) })
      await db.transaction().execute((tx) => settleDays(rows(tx), [day]))
    }
  }

  return {
    batchMax: BATCH_MAX,
    findPosition: (journalId) => findPosition(db, journalId),

    async take(batch) {
      const linkSeqs = batch.clicks.map(({ link_seq }) => link_seq)
      await numbers.keep(linkSeqs)
      await owners.load(linkSeqs)
      const growth = growthOf(batch.clicks, ownerOf)
      const raw = options.rawRows.plan(batch.clicks, ownerOf)
      await partitions.ensure(new Set(raw.map(({ click }) => dayOf(click.at))))
      for (let attempt = 1; ; attempt += 1) {
        try {
          const taken = await takeOnce(batch, growth, raw)
          if (taken) options.rawRows.noteWritten(batch.clicks, raw)
          return taken
        } catch (error) {
          partitions.forget()
          if (!(error instanceof StaleRow) || attempt === ATTEMPTS_MAX) throw error
        }
      }
    },

    async maintain(today, oldestDay) {
      await partitions.maintain(today, oldestDay)
      await settle(today)
    },

    close: () => db.destroy(),
  }
}

import { Kysely, PostgresDialect, type SqlBool, sql } from 'kysely'
import { postgresLinkSequence } from '../../../links/store/index.ts'
import { numberArray, textArray, uuidArray } from '../../../storage/postgres/errors.ts'
import { openPool } from '../../../storage/postgres/pool.ts'
import { lockName } from '../../../storage/postgres/transaction.ts'
import type { Schema } from '../../../storage/schema.ts'
import { StaleRow } from '../../../storage/store.ts'
import type { ClickBatch, ClickWriter } from '../../click-writer.ts'
import { type SpoolReader, spoolReader } from '../../spool/spool-reader.ts'
import { dayOf } from '../../tally/click-day.ts'
import {
  type BatchDeltas,
  computeBatchDeltas,
  OwnerCache,
  type OwnerOf,
  orderByLink,
} from '../batch-deltas.ts'
import {
  type BegunBatch,
  beginBatch,
  type ClickIntent,
  type ClickLedger,
  endBatch,
  findIntent,
  type PreparedBatch,
} from '../click-intents.ts'
import { clickSpoolStore } from '../click-spool-store.ts'
import { findPosition, type JournalPosition, movePosition } from '../click-store.ts'
import { COUNTED_DAYS, foldDays, SCOPES, settleDays } from '../fold-days.ts'
import { forgetLabels, KnownLabels } from '../known-labels.ts'
import { addLeasedClicks, dropUnleasedClicks } from '../leased-clicks.ts'
import type { NewRawClick, RawClickQuota } from '../raw-click-quota.ts'
import type { ErasedClicks } from '../raw-click-source.ts'
import { postgresClickRows } from './click-rows.ts'
import { ClickPartitions, insertRawClicks, RAW_TABLES } from './raw-clicks.ts'

/** Small enough that other nodes do not wait long for shared rows: about a second. No release may lower it, as on SQLite. */
const BATCH_MAX = 50_000
const CONNECTIONS_MAX = 2
/** Allows for a slow disk, and for waiting while other nodes' batches commit. */
const STATEMENT_TIMEOUT_MS = 60_000
const ATTEMPTS_MAX = 8

type WriterOptions = {
  readonly url: string
  readonly rawQuota: RawClickQuota
  readonly onWithoutLink: (visits: number) => void
  readonly onError: (error: unknown) => void
  /** How long rows are kept; 0 keeps them forever. */
  readonly retentionDays: number
}

/** Connects to a migrated database. */
export function openPostgresClickWriter(options: WriterOptions): ClickWriter & ClickLedger {
  return new PostgresClickWriter(options)
}

class PostgresClickWriter implements ClickWriter, ClickLedger {
  readonly batchMax = BATCH_MAX
  readonly spools: SpoolReader
  readonly #options: WriterOptions
  readonly #db: Kysely<Schema>
  readonly #owners: OwnerCache
  readonly #labels: KnownLabels
  readonly #partitions: ClickPartitions

  constructor(options: WriterOptions) {
    const pool = openPool({
      ...options,
      connectionsMax: CONNECTIONS_MAX,
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    })
    const db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) })
    this.#options = options
    this.#db = db
    this.spools = spoolReader(clickSpoolStore(db))
    this.#owners = new OwnerCache(
      db,
      postgresLinkSequence(db),
      (linkSeqs) => sql<SqlBool>`seq = any(${numberArray(linkSeqs)}::bigint[])`,
    )
    this.#labels = new KnownLabels(db, {
      isAmong: (column, values) =>
        column === 'label'
          ? sql<SqlBool>`label = any(${textArray(values)}::text[])`
          : sql<SqlBool>`workspace_id = any(${uuidArray(values)}::uuid[])`,
      lockName,
      inTransaction: (work) => db.transaction().execute(work),
    })
    this.#partitions = new ClickPartitions(db)
  }

  findPosition(journalId: string): Promise<JournalPosition | undefined> {
    return findPosition(this.#db, journalId)
  }

  async write(batch: ClickBatch): Promise<boolean> {
    const { ownerOf, deltas } = await this.prepare(batch)
    const raw = this.#rowsOf(batch, ownerOf)
    await this.#partitions.ensure(
      new Set(raw.map(({ index }) => dayOf(batch.clicks.at[index] ?? 0))),
    )
    for (let attempt = 1; ; attempt += 1) {
      try {
        const isWritten = await this.#tryWrite(batch, deltas, raw)
        if (isWritten) {
          this.#options.rawQuota.noteWritten(batch, batch.clicks.visits, raw)
          this.#options.onWithoutLink(deltas.withoutLink)
        }
        return isWritten
      } catch (error) {
        this.#partitions.forget()
        if (!(error instanceof StaleRow) || attempt === ATTEMPTS_MAX) throw error
      }
    }
  }

  async prepare(batch: ClickBatch): Promise<PreparedBatch> {
    const order = orderByLink(batch.clicks)
    const ownerOf = await this.#owners.load(batch.clicks, order)
    await this.#labels.settle(batch, ownerOf)
    return { ownerOf, deltas: computeBatchDeltas(batch, ownerOf, order) }
  }

  findIntent(journalId: string): Promise<ClickIntent | undefined> {
    return findIntent(this.#db, journalId)
  }

  begin(batch: ClickBatch): Promise<BegunBatch | undefined> {
    return this.#db.transaction().execute((tx) => beginBatch(tx, batch))
  }

  commit(batch: ClickBatch, { deltas }: PreparedBatch): Promise<boolean> {
    return this.#db.transaction().execute(async (tx) => {
      if (!(await movePosition(tx, batch))) return false
      await endBatch(tx, batch)
      await addLeasedClicks(tx, batch.journalId, deltas.limited)
      await postgresClickRows(tx).addToLinks(deltas.counts)
      return true
    })
  }

  async maintain(today: number, oldestDay: number | undefined): Promise<void> {
    await this.#partitions.maintain(today, oldestDay)
    await this.#settle(today)
    await dropUnleasedClicks(this.#db)
  }

  async erase(erased: ErasedClicks): Promise<void> {
    if (erased.kind === 'links') await eraseLinkRows(this.#db, erased.linkSeqs)
    else {
      await eraseWorkspaceRows(this.#db, erased.workspaceId)
      await forgetLabels(this.#db, erased.workspaceId)
    }
  }

  close(): Promise<void> {
    return this.#db.destroy()
  }

  #rowsOf(batch: ClickBatch, ownerOf: OwnerOf): readonly NewRawClick[] {
    const { clicks, imported, atMicros } = batch
    const { rawQuota, retentionDays } = this.#options
    const indexes = clicks.indexes()
    if (imported === undefined) return rawQuota.plan(batch, indexes, ownerOf)
    const oldestDay = retentionDays === 0 ? 0 : Math.max(0, dayOf(atMicros) - retentionDays)
    const kept = indexes.filter((index) => dayOf(clicks.at[index] ?? 0) >= oldestDay)
    return rawQuota.plan(batch, kept, ownerOf)
  }

  #tryWrite(
    batch: ClickBatch,
    { counts, deltas, limited }: BatchDeltas,
    raw: readonly NewRawClick[],
  ): Promise<boolean> {
    return this.#db.transaction().execute(async (tx) => {
      if (!(await movePosition(tx, batch))) return false
      await insertRawClicks(tx, batch.clicks, raw)
      await addLeasedClicks(tx, batch.journalId, limited)
      const rows = postgresClickRows(tx)
      // Rows that several nodes update come last and in a fixed order, so that their locks are held briefly
      // and cannot deadlock.
      await rows.addToLinks(counts)
      await foldDays({ db: tx, rows }, await rows.appendToDays(deltas))
      return true
    })
  }

  async #settle(today: number): Promise<void> {
    const days = await this.#db
      .selectFrom('unsettled_days')
      .selectAll()
      .where('day', '<', today)
      .execute()
    for (const day of days) {
      await this.#db
        .transaction()
        .execute((tx) => settleDays({ db: tx, rows: postgresClickRows(tx) }, [day]))
    }
  }
}

/** Days of which rows are deleted in one statement. */
const DAYS_PER_STEP = 30
/** The tables of days by subject; the last one says which days there are. */
const DAY_TABLES = ['returned_tallies', 'unsettled_days', 'click_days'] as const
/** Raw clicks that are deleted in one statement. */
const ROWS_PER_STEP = 5_000

/** Deletes the counters and charts of links. Runs again from the beginning when it fails. */
async function eraseLinkRows(db: Kysely<Schema>, linkSeqs: readonly number[]): Promise<void> {
  const subjects = sql`any(${numberArray(linkSeqs)}::bigint[])`
  for (const days of await stepsOf(db)) {
    for (const table of DAY_TABLES) {
      await sql`delete from ${sql.table(table)}
        where day = any(${numberArray(days)}::integer[])
          and scope = ${sql.lit(SCOPES.link)} and subject = ${subjects}`.execute(db)
    }
  }
  for (const table of ['leased_clicks', 'link_clicks']) {
    await sql`delete from ${sql.table(table)} where link_seq = ${subjects}`.execute(db)
  }
}

/** Deletes charts and raw clicks of a workspace. Runs again from the beginning when it fails. */
async function eraseWorkspaceRows(db: Kysely<Schema>, workspaceId: string): Promise<void> {
  for (const days of await stepsOf(db)) {
    for (const table of DAY_TABLES) {
      await sql`delete from ${sql.table(table)}
        where day = any(${numberArray(days)}::integer[])
          and scope in (${sql.lit(SCOPES.domain)}, ${sql.lit(SCOPES.workspace)})
          and workspace_id = ${workspaceId}`.execute(db)
    }
  }
  for (const table of RAW_TABLES) {
    let deleted: bigint
    do {
      const some = db
        .selectFrom(table)
        .select('id')
        .where('workspace_id', '=', workspaceId)
        .orderBy('id')
        .limit(ROWS_PER_STEP)
      const result = await db
        .deleteFrom(table)
        .where('workspace_id', '=', workspaceId)
        .where('id', 'in', some)
        .executeTakeFirst()
      deleted = result.numDeletedRows
    } while (deleted > 0n)
  }
}

/** The days with counts, a few at a time. */
async function stepsOf(db: Kysely<Schema>): Promise<readonly number[][]> {
  const { rows } = await sql<{ day: number }>`${sql.raw(COUNTED_DAYS)}`.execute(db)
  const days = rows.map(({ day }) => day)
  return Array.from({ length: Math.ceil(days.length / DAYS_PER_STEP) }, (_, nth) =>
    days.slice(nth * DAYS_PER_STEP, (nth + 1) * DAYS_PER_STEP),
  )
}

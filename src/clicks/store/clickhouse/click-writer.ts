import type { ClickHouse } from '../../../storage/clickhouse/clickhouse.ts'
import type { ClickHouseAccess } from '../../../storage/clickhouse/clicks-url.ts'
import type { ClickBatch, ClickWriter } from '../../click-writer.ts'
import type { SpoolReader } from '../../spool/spool-reader.ts'
import { dayOf, OPENING_DAY } from '../../tally/click-day.ts'
import {
  BEGINNING,
  type BegunBatch,
  type ClickLedger,
  isSamePosition,
  type PreparedBatch,
} from '../click-intents.ts'
import type { JournalPosition } from '../click-store.ts'
import type { RawClickQuota } from '../raw-click-quota.ts'
import type { ErasedClicks } from '../raw-click-source.ts'
import { sumBusyDays } from './busy-days.ts'
import { openClickDatabase } from './click-database.ts'
import { eraseClicks, maintainClicks } from './erase-clicks.ts'
import { rememberedInserts } from './layout.ts'
import { encodeBlock } from './native-block.ts'
import { ONE_BLOCK } from './schema.ts'

/** Large blocks cost the server less; one takes about half a second, and 10 MB of memory here. No release may lower it. */
const BATCH_MAX = 100_000
const CONNECTIONS_MAX = 2
/** Allows for a slow disk, and for merges that the server does first. */
const TIMEOUT_MS = 60_000
/** Inserts of a block of clicks of several months or years, at most, for what the server remembers. */
const INSERTS_PER_BLOCK = 10

type WriterOptions = {
  readonly db: ClickHouse
  /** Counts clicks in the main database. */
  readonly ledger: ClickWriter & ClickLedger
  readonly rawQuota: RawClickQuota
  readonly onWithoutLink: (visits: number) => void
  /** How long single clicks are kept; 0 keeps them forever. */
  readonly retentionDays: number
}

/** Opens the database of clicks for a drainer. It connects at the first use. */
export function openClickHouseWriter(
  access: ClickHouseAccess,
  options: Omit<WriterOptions, 'db'>,
): ClickWriter {
  const db = openClickDatabase(access, { timeoutMs: TIMEOUT_MS, connectionsMax: CONNECTIONS_MAX })
  return new ClickHouseClickWriter({ ...options, db })
}

/**
 * Writes clicks to ClickHouse, and what they add to links to the main database. Each batch is one block there, known by
 * the journal and its positions, so that the server drops it when it is inserted again.
 */
class ClickHouseClickWriter implements ClickWriter {
  readonly batchMax = BATCH_MAX
  readonly spools: SpoolReader
  readonly #options: WriterOptions

  constructor(options: WriterOptions) {
    this.#options = options
    this.spools = options.ledger.spools
  }

  findPosition(journalId: string): Promise<JournalPosition | undefined> {
    return this.#options.ledger.findPosition(journalId)
  }

  async findEnd(
    journalId: string,
    from: JournalPosition | undefined,
  ): Promise<JournalPosition | undefined> {
    const intent = await this.#options.ledger.findIntent(journalId)
    if (intent !== undefined && isSamePosition(intent.from, from)) return intent.to
    // Blocks that the main database does not know of: it was restored to an older state.
    const [next] = await this.#options.db.rows<BlockRow>(
      `select from_segment, from_offset, to_segment, to_offset from click_blocks
       where journal = {journal:String}
         and (from_segment, from_offset) >= ({segment:Int64}, {offset:Int64})
       order by from_segment, from_offset limit 1`,
      { params: { journal: journalId, ...numbersOf(from) } },
    )
    if (next === undefined) return undefined
    const begins = numbersOf(from)
    return next.from_segment === begins.segment && next.from_offset === begins.offset
      ? { segment: next.to_segment, offset: next.to_offset }
      : { segment: next.from_segment, offset: next.from_offset }
  }

  async write(batch: ClickBatch): Promise<boolean> {
    const { ledger, rawQuota, onWithoutLink } = this.#options
    const prepared = await ledger.prepare(batch)
    const begun = await ledger.begin(batch)
    if (begun === undefined || !isSamePosition(begun.to, batch.to)) return false
    const oldestDay = this.#oldestDay(batch, begun)
    const { indexes, rows } = this.#planRows(batch, prepared, oldestDay)
    if (indexes.length > 0 && !(await this.#isStored(batch, begun))) {
      const block = blockOf(batch)
      const { clicks } = batch
      const bytes = encodeBlock({
        block,
        begunAtMicros: begun.begunAt,
        clicks,
        indexes,
        ownerOf: prepared.ownerOf,
        rows,
        oldestDay,
      })
      await this.#options.db.insert('insert into incoming_clicks format Native', bytes, {
        settings: { ...ONE_BLOCK, insert_deduplication_token: block },
      })
    }
    const isCounted = await ledger.commit(batch, prepared)
    if (isCounted) {
      rawQuota.noteWritten(batch, batch.clicks.visitsOf(indexes), rows)
      onWithoutLink(prepared.deltas.withoutLink)
    }
    return isCounted
  }

  async maintain(
    today: number,
    oldestDay: number | undefined,
    signal?: AbortSignal,
  ): Promise<void> {
    await this.#options.ledger.maintain(today, oldestDay)
    await maintainClicks(this.#options.db, today, oldestDay)
    await sumBusyDays(this.#options.db, today, signal)
  }

  async erase(erased: ErasedClicks): Promise<void> {
    await this.#options.ledger.erase(erased)
    await eraseClicks(this.#options.db, erased)
  }

  async close(): Promise<void> {
    await Promise.all([this.#options.ledger.close(), this.#options.db.close()])
  }

  /**
   * The first day of which single clicks are kept. Older days may be in the middle of a fold, which would delete a further
   * single click unread. As of the first try, so that a retry inserts the same block.
   */
  #oldestDay({ imported }: ClickBatch, { begunAt }: BegunBatch): number {
    const { retentionDays } = this.#options
    if (retentionDays === 0) return imported === undefined ? OPENING_DAY : 0
    return Math.max(0, dayOf(begunAt) - retentionDays)
  }

  #planRows(batch: ClickBatch, { ownerOf }: PreparedBatch, oldestDay: number) {
    const { clicks } = batch
    const indexes = clicks.indexes().filter((index) => ownerOf(clicks.link_seq[index] ?? 0))
    // Live views show what visitors did, however late it comes.
    const shown =
      batch.imported === undefined
        ? indexes
        : indexes.filter((index) => dayOf(clicks.at[index] ?? 0) >= oldestDay)
    return { indexes, rows: this.#options.rawQuota.plan(batch, shown, ownerOf) }
  }

  /**
   * Whether the block need not be inserted. One that was begun before is inserted again, because it may be in some of the
   * tables only, unless the server may have forgotten which inserts were its own.
   */
  async #isStored(batch: ClickBatch, { isRetry, begunAt }: BegunBatch): Promise<boolean> {
    const { journalId, from } = batch
    const [found] = await this.#options.db.rows<{ stored: number; later: number }>(
      `select countIf(journal = {journal:String} and from_segment = {segment:Int64}
           and from_offset = {offset:Int64}) as stored,
         countIf(begun_at >= fromUnixTimestamp64Micro({begun:Int64})) as later
       from click_blocks
       where (journal = {journal:String} and from_segment = {segment:Int64} and from_offset = {offset:Int64})
         or ({retry:UInt8} = 1 and begun_at >= fromUnixTimestamp64Micro({begun:Int64}))`,
      {
        params: {
          journal: journalId,
          ...numbersOf(from),
          begun: begunAt,
          retry: isRetry ? 1 : 0,
        },
      },
    )
    if (found === undefined || found.stored === 0) return false
    return !isRetry || found.later * INSERTS_PER_BLOCK > rememberedInserts(this.#options.db.address)
  }
}

type BlockRow = {
  readonly from_segment: number
  readonly from_offset: number
  readonly to_segment: number
  readonly to_offset: number
}

function numbersOf(position: JournalPosition | undefined): JournalPosition {
  return position ?? { segment: BEGINNING, offset: BEGINNING }
}

function blockOf({ journalId, from, to }: ClickBatch): string {
  const begins = numbersOf(from)
  return [journalId, begins.segment, begins.offset, to.segment, to.offset].join(' ')
}

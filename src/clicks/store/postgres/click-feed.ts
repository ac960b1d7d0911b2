import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely'
import { TRANSACTION_EPOCH } from '../../../storage/postgres/change-log.ts'
import { uuidArray } from '../../../storage/postgres/errors.ts'
import type { Scans } from '../../../storage/scans.ts'
import type { Schema } from '../../../storage/schema.ts'
import { dayOf, startOfDay } from '../../tally/click-day.ts'
import {
  addMinutes,
  type ClickFeed,
  conditionsOf,
  FEED_PAGE_ROWS,
  type FedClick,
  FeedInterrupted,
  MINUTE,
  type MinuteSum,
  nameFedClicks,
  withMatchingLinks,
} from '../click-feed.ts'
import { RAW_CLICK_COLUMNS } from '../raw-click-source.ts'

/** Clicks of the workspace that one query reads back. */
const ROWS_PER_QUERY = 5_000
/**
 * How many numbers of clicks are read again, to find those that were committed late: those of ten full
 * batches. The click of a transaction that other nodes overtake by more than that is counted, but not shown live.
 */
const LATE_NUMBERS = 100_000
/** What the tail of all workspaces is called where scans take turns. */
const TAIL = 'live clicks'

/** Clicks that are visible in the snapshot have been read. */
type Position = {
  readonly epoch: string
  readonly snapshot: string
  /** The last number that a click had been given. */
  readonly last: number
  /** Set when a read has stopped at its limit: the rest up to `until` is read first. */
  readonly within?: { readonly until: Omit<Position, 'within'>; readonly after: number }
}

/**
 * Transactions commit in a different order than their clicks get their numbers. So a position is a snapshot: a
 * click is new if the transaction that stored it was not visible in that.
 */
export function postgresClickFeed({
  db,
  scans,
}: {
  readonly db: Kysely<Schema>
  readonly scans: Scans
}): ClickFeed {
  const tail = scans.begin(TAIL)

  async function now(): Promise<Position> {
    const { rows } = await tail.turn(() =>
      sql<Position>`
        select ${TRANSACTION_EPOCH} as epoch, pg_current_snapshot()::text as snapshot,
          last_value as last from clicks_id`.execute(scans.db),
    )
    const [row] = rows
    if (row === undefined) throw new Error('PostgreSQL answered with no row')
    return { ...row, last: Number(row.last) }
  }

  const rowsWhere = (where: RawBuilder<SqlBool>, order: 'asc' | 'desc', limit: number) =>
    scans.db
      .selectFrom('clicks')
      .select(['id', sql<string>`workspace_id`.as('workspace_id'), ...RAW_CLICK_COLUMNS])
      .where(where)
      .orderBy('id', order)
      .limit(limit)
      .execute()

  return {
    end: async () => JSON.stringify(await now()),

    async since(position, { workspaceIds, fromMicros, linkValues, limit = Infinity }, onPage) {
      const read: Position = JSON.parse(position)
      const newest = await now()
      if (newest.epoch !== read.epoch) throw new FeedInterrupted()
      const current = read.within?.until ?? newest
      let clicks = 0
      for (let after = read.within?.after ?? read.last - LATE_NUMBERS; ; ) {
        const where = sql<SqlBool>`at >= ${fromMicros} and id > ${after}
          and workspace_id = any(${uuidArray(workspaceIds)}::uuid[])
          and not ${isVisible(read.snapshot)} and ${isVisible(current.snapshot)}`
        const rows = await tail.turn(() => rowsWhere(where, 'asc', FEED_PAGE_ROWS))
        onPage(await nameFedClicks(db, rows, { linkValues }))
        const last = rows.at(-1)
        if (last === undefined || rows.length < FEED_PAGE_ROWS) return JSON.stringify(current)
        after = last.id
        clicks += rows.length
        if (clicks < limit) continue
        const { epoch, snapshot, last: lastNumber } = read
        const rest = { epoch, snapshot, last: lastNumber, within: { until: current, after } }
        return JSON.stringify(rest satisfies Position)
      }
    },

    async recent(position, selection, { fromMicros, latestMax }) {
      const { snapshot }: Position = JSON.parse(position)
      const scan = scans.begin(selection.workspaceId)
      const minutes = new Map<number, number>()
      const latest: FedClick[] = []
      const ofDays = sql<SqlBool>`workspace_id = ${selection.workspaceId}
        and at >= ${startOfDay(dayOf(fromMicros))}`
      for (let before = Number.MAX_SAFE_INTEGER; ; ) {
        // Without conditions on single clicks, it reads the index backwards and stops.
        const read = sql<{ first: number | null; newest: number }>`
          select min(id) as first, max(at) as newest from (
            select id, at from clicks where ${ofDays} and id < ${before}
            order by id desc limit ${ROWS_PER_QUERY}) as page`
        const [page] = (await scan.turn(() => read.execute(scans.db))).rows
        if (page === undefined || page.first === null) break
        const own = sql<SqlBool>`${ofDays} and id >= ${page.first} and id < ${before}
          and at >= ${fromMicros} and ${isVisible(snapshot)}`
        const clicked = sql<{ link_seq: number }>`
          select distinct link_seq from clicks where ${own} and ${conditionsOf(selection)}`
        const narrowed = await withMatchingLinks(db, selection, async () => {
          const { rows: found } = await scan.turn(() => clicked.execute(scans.db))
          return found.map(({ link_seq }) => Number(link_seq))
        })
        const where = sql<SqlBool>`${own} and ${conditionsOf(narrowed)}`
        const sums = sql<MinuteSum>`
          select ${MINUTE} as minute, sum(count) as clicks from clicks where ${where} group by 1`
        addMinutes(minutes, (await scan.turn(() => sums.execute(scans.db))).rows)
        const limit = latestMax - latest.length
        if (limit > 0) {
          const rows = await scan.turn(() => rowsWhere(where, 'desc', limit))
          latest.push(...(await nameFedClicks(db, rows)))
        }
        if (Number(page.newest) < fromMicros) break
        before = page.first
      }
      return { minutes, latest }
    },
  }
}

/**
 * Whether the transaction that stored the row is visible in a snapshot. A row has the lower 32 bits of the
 * transaction's number; the others follow from the current number, which is at most 2^31 larger.
 */
function isVisible(snapshot: string): RawBuilder<SqlBool> {
  const next = sql`pg_snapshot_xmax(pg_current_snapshot())::text::bigint`
  return sql<SqlBool>`pg_visible_in_snapshot(
    (${next} - ((${next} - clicks.xmin::text::bigint) & 4294967295))::text::xid8,
    ${snapshot}::pg_snapshot)`
}

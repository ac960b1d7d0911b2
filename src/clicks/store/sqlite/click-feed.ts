import { existsSync } from 'node:fs'
import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Scan, Scans } from '../../../storage/scans.ts'
import type { Schema } from '../../../storage/schema.ts'
import { kyselyOver } from '../../../storage/sqlite/connection.ts'
import type { ScanConnection } from '../../../storage/sqlite/scan-connection.ts'
import { dayOf } from '../../tally/click-day.ts'
import {
  addMinutes,
  type ClickFeed,
  conditionsOf,
  FEED_PAGE_ROWS,
  type FedClick,
  MINUTE,
  type MinuteSum,
  nameFedClicks,
  withMatchingLinks,
} from '../click-feed.ts'
import { RAW_CLICK_COLUMNS } from '../raw-click-source.ts'
import { clicksIn, listRawDays, rawClicksFile } from './raw-click-files.ts'

/** Rows per query, of all workspaces: a few milliseconds on the scan thread. */
const ROWS_PER_QUERY = 20_000
/** What the tail of all workspaces is called where scans take turns. */
const TAIL = 'live clicks'

/** The last row that was read of each day's file. */
type Position = Readonly<Record<number, number>>

/** A day's file and its number of rows. */
type OpenDay = { readonly day: number; readonly db: Kysely<Schema>; readonly rows: number }

/** Follows the row numbers of each day's file: writers take turns, so they are in the order of commits. */
export function sqliteClickFeed(
  folder: string,
  scanConnection: ScanConnection,
  { db, scans }: { readonly db: Kysely<Schema>; readonly scans: Scans },
): ClickFeed {
  async function openDays(scan: Scan, fromMicros: number): Promise<readonly OpenDay[]> {
    const found: OpenDay[] = []
    for (const day of listRawDays(folder).filter((each) => each >= dayOf(fromMicros))) {
      const over = overDay(day)
      if (over !== undefined) found.push({ day, db: over, rows: await countRows(scan, over) })
    }
    return found
  }

  function overDay(day: number): Kysely<Schema> | undefined {
    const file = rawClicksFile(folder, day)
    return existsSync(file) ? kyselyOver(scanConnection.over(file)) : undefined
  }

  async function readRows(
    scan: Scan,
    day: Kysely<Schema>,
    { where, order, limit, linkValues = false }: Rows,
  ): Promise<readonly FedClick[]> {
    const clicks = await scan.turn(() => clicksIn(day))
    const rows = await scan.turn(() =>
      day
        .selectFrom(clicks.as('clicks'))
        .select(COLUMNS)
        .where(where)
        .orderBy(sql`rowid`, order)
        .limit(limit)
        .execute(),
    )
    return nameFedClicks(db, rows, { linkValues })
  }

  return {
    async end(fromMicros) {
      const days = await openDays(scans.begin(TAIL), fromMicros)
      return JSON.stringify(Object.fromEntries(days.map(({ day, rows }) => [day, rows])))
    },

    async since(position, { workspaceIds, fromMicros, linkValues, limit = Infinity }, onPage) {
      const read: Position = JSON.parse(position)
      const scan = scans.begin(TAIL)
      const days = await openDays(scan, fromMicros)
      const reached: Record<number, number> = {}
      let clicks = 0
      for (const { day, db: file, rows } of days) {
        reached[day] = read[day] ?? 0
        for (let after = read[day] ?? 0; after < rows && clicks < limit; after += FEED_PAGE_ROWS) {
          const until = Math.min(after + FEED_PAGE_ROWS, rows)
          const where = sql<SqlBool>`${between(after, until)} and at >= ${fromMicros}
            and ${among(workspaceIds)}`
          const page = { where, order: 'asc', limit: FEED_PAGE_ROWS, linkValues } as const
          const found = await readRows(scan, file, page)
          onPage(found)
          clicks += found.length
          reached[day] = until
        }
      }
      return JSON.stringify(reached)
    },

    async recent(position, selection, { fromMicros, latestMax }) {
      const scan = scans.begin(selection.workspaceId)
      const minutes = new Map<number, number>()
      const latest: FedClick[] = []
      const days = Object.entries(JSON.parse(position) as Position).map(([day, rows]) => ({
        day: Number(day),
        rows,
      }))
      for (const { day, rows } of days.toSorted((a, b) => b.day - a.day)) {
        const file = overDay(day)
        if (file === undefined) continue
        const clicks = await scan.turn(() => clicksIn(file))
        for (let until = rows; until > 0; until -= ROWS_PER_QUERY) {
          const within = between(until - ROWS_PER_QUERY, until)
          const own = sql<SqlBool>`${within} and at >= ${fromMicros}
            and ${among([selection.workspaceId])}`
          const clicked = sql<{ link_seq: number }>`
            select distinct link_seq from ${clicks} where ${own} and ${conditionsOf(selection)}`
          const narrowed = await withMatchingLinks(db, selection, async () => {
            const { rows: found } = await scan.turn(() => clicked.execute(file))
            return found.map(({ link_seq }) => link_seq)
          })
          const where = sql<SqlBool>`${own} and ${conditionsOf(narrowed)}`
          const sums = sql<MinuteSum>`
            select ${MINUTE} as minute, sum(count) as clicks from ${clicks} where ${where} group by 1`
          addMinutes(minutes, (await scan.turn(() => sums.execute(file))).rows)
          const limit = latestMax - latest.length
          if (limit > 0)
            latest.push(...(await readRows(scan, file, { where, order: 'desc', limit })))
          const newest = sql<{ at: number }>`select max(at) as at from clicks where ${within}`
          const [row] = (await scan.turn(() => newest.execute(file))).rows
          if (row === undefined || row.at < fromMicros) break
        }
      }
      return { minutes, latest }
    },
  }
}

const COLUMNS = [
  sql<number>`rowid`.as('id'),
  sql<string>`(select id from workspaces where number = workspace)`.as('workspace_id'),
  ...RAW_CLICK_COLUMNS,
]

type Rows = {
  readonly where: RawBuilder<SqlBool>
  readonly order: 'asc' | 'desc'
  readonly limit: number
  readonly linkValues?: boolean
}

function between(after: number, until: number): RawBuilder<SqlBool> {
  return sql`rowid > ${after} and rowid <= ${until}`
}

function among(workspaceIds: readonly string[]): RawBuilder<SqlBool> {
  return sql`workspace in (select number from workspaces where id in (${sql.join(workspaceIds)}))`
}

async function countRows(scan: Scan, day: Kysely<Schema>): Promise<number> {
  const last = await scan.turn(() =>
    day.selectFrom('clicks').select(sql<number | null>`max(rowid)`.as('id')).executeTakeFirst(),
  )
  return last?.id ?? 0
}

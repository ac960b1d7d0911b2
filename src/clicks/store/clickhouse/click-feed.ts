import type { Kysely } from 'kysely'
import type { ClickHouse } from '../../../storage/clickhouse/clickhouse.ts'
import type { Schema } from '../../../storage/schema.ts'
import { ignoresCase } from '../../report/click-filter.ts'
import {
  type ClickFeed,
  FEED_PAGE_ROWS,
  type LiveSelection,
  MINUTE_MICROS,
  nameFedClicks,
  withMatchingLinks,
} from '../click-feed.ts'
import { CLICK_ROW, rawClickRow, type StoredClick } from './raw-clicks.ts'

/**
 * A block of clicks is readable when its insert is done, up to this long after the server has noted its time. Blocks
 * that were noted before others may be readable after them.
 */
const LATE_MICROS = 60 * 1_000_000
/** How much earlier than a click, by its node's clock, the server may note that it was stored. */
const CLOCK_MICROS = 5 * 60 * 1_000_000
/** Blocks that one query reads: a block has at most 100,000 clicks. */
const BLOCKS_PER_QUERY = 2

const SHOWN_MICROS = 'toUnixTimestamp64Micro(shown_at)'
const SHOWN_SINCE = 'shown_at >= fromUnixTimestamp64Micro({since:Int64})'

/** `seen` are the blocks since `since` that were read; earlier ones were all read. */
type Position = { readonly since: number; readonly seen: Readonly<Record<string, number>> }

/** A block and when the server noted it. Its number is text, as a key of `seen`. */
type Block = { readonly block: string; readonly shown: number }

type LiveRow = StoredClick & { readonly workspace: string }

/** Reads the table of the last hours' clicks. The names of links are in the main database. */
export function clickHouseFeed(db: ClickHouse, names: Kysely<Schema>): ClickFeed {
  const nameRows = (rows: readonly LiveRow[], linkValues = false) =>
    nameFedClicks(
      names,
      rows.map(({ workspace, ...row }) => ({
        ...rawClickRow(row),
        workspace_id: workspace,
        id: 0,
      })),
      { linkValues },
    )

  const blocksSince = (since: number) =>
    db.rows<Block>(
      `select distinct toString(live_clicks.block) as block, ${SHOWN_MICROS} as shown
      from live_clicks where ${SHOWN_SINCE} order by shown, block`,
      { params: { since } },
    )

  return {
    async end() {
      const [now] = await db.rows<{ readonly micros: number }>(
        'select toUnixTimestamp64Micro(now64(6)) as micros',
      )
      const since = (now?.micros ?? 0) - LATE_MICROS
      const blocks = await blocksSince(since)
      return JSON.stringify({ since, seen: seenOf(blocks) } satisfies Position)
    },

    async since(position, { workspaceIds, fromMicros, linkValues, limit = Infinity }, onPage) {
      const { since, seen }: Position = JSON.parse(position)
      const fresh = (await blocksSince(since)).filter(({ block }) => !(block in seen))
      const read: Block[] = []
      let clicks = 0
      while (read.length < fresh.length && clicks < limit) {
        const some = fresh.slice(read.length, read.length + BLOCKS_PER_QUERY)
        const rows = await db.rows<LiveRow>(
          `select workspace, ${CLICK_ROW} from live_clicks
          where workspace in {workspaces:Array(UUID)} and ${SHOWN_SINCE}
            and block in {blocks:Array(UInt64)} and at >= {from:Int64}
          order by shown_at, block, at`,
          {
            params: {
              workspaces: workspaceIds,
              since: some[0]?.shown ?? since,
              blocks: some.map(({ block }) => BigInt(block)),
              from: fromMicros,
            },
          },
        )
        for (let start = 0; start < rows.length; start += FEED_PAGE_ROWS) {
          onPage(await nameRows(rows.slice(start, start + FEED_PAGE_ROWS), linkValues))
        }
        read.push(...some)
        clicks += rows.length
      }
      return read.length === 0 ? position : JSON.stringify(movedOn({ since, seen }, read))
    },

    async recent(position, selection, { fromMicros, latestMax }) {
      const { since, seen }: Position = JSON.parse(position)
      const params = {
        since: fromMicros - CLOCK_MICROS,
        from: fromMicros,
        workspace: selection.workspaceId,
        read: since,
        seen: Object.keys(seen).map(BigInt),
      }
      const base = `workspace = {workspace:UUID} and ${SHOWN_SINCE} and at >= {from:Int64}
        and (shown_at < fromUnixTimestamp64Micro({read:Int64}) or block in {seen:Array(UInt64)})`
      const narrowed = await withMatchingLinks(names, selection, async () => {
        const { where, values } = conditionsOf(selection)
        const found = await db.rows<{ readonly link: number }>(
          `select distinct link from live_clicks where ${base} ${where}`,
          { params: { ...params, ...values } },
        )
        return found.map(({ link }) => link)
      })
      const { where, values } = conditionsOf(narrowed)
      const options = { params: { ...params, ...values, max: latestMax } }
      const [minutes, latest] = await Promise.all([
        db.rows<{ readonly minute: number; readonly clicks: number }>(
          `select intDiv(at, ${MINUTE_MICROS}) as minute, sum(count) as clicks
          from live_clicks where ${base} ${where} group by minute`,
          options,
        ),
        db.rows<LiveRow>(
          `select workspace, ${CLICK_ROW} from live_clicks where ${base} ${where}
          order by shown_at desc, block desc, at desc limit {max:UInt32}`,
          options,
        ),
      ])
      return {
        minutes: new Map(minutes.map(({ minute, clicks }) => [minute, clicks])),
        latest: await nameRows(latest),
      }
    },
  }
}

function seenOf(blocks: readonly Block[]): Record<string, number> {
  return Object.fromEntries(blocks.map(({ block, shown }) => [block, shown]))
}

/** The position behind these blocks, without those that need not be remembered any longer. */
function movedOn({ since: before, seen }: Position, read: readonly Block[]): Position {
  const all = { ...seen, ...seenOf(read) }
  const since = Math.max(before, Math.max(...Object.values(all)) - LATE_MICROS)
  const kept = Object.entries(all).filter(([, shown]) => shown >= since)
  return { since, seen: Object.fromEntries(kept) }
}

/** The conditions on single clicks, with the values of their parameters. */
function conditionsOf({ linkSeqs, keyspaceIds, filter, bots }: LiveSelection) {
  const values: Record<string, unknown> = {}
  const conditions: string[] = []
  const among = (column: string, name: string, type: string, wanted: Iterable<unknown>) => {
    values[name] = [...wanted]
    conditions.push(`and ${column} in {${name}:Array(${type})}`)
  }
  if (linkSeqs !== undefined) among('link', 'links', 'UInt64', linkSeqs)
  if (keyspaceIds !== undefined) among('keyspace', 'keyspaces', 'UInt64', keyspaceIds)
  if (bots !== 'include') conditions.push(`and flags ${bots === 'only' ? '!=' : '='} 0`)
  for (const [dimension, wanted] of filter) {
    const column = ignoresCase(dimension) ? `lower(${dimension})` : dimension
    among(column, `of_${dimension}`, 'String', wanted)
  }
  return { where: conditions.join(' '), values }
}

import type { ClickHouse } from '../../../storage/clickhouse/clickhouse.ts'
import { CLICK_DIMENSIONS, type Click } from '../../click.ts'
import type { ClickScope } from '../../report/day-of-clicks.ts'
import { SLOTS_PER_DAY, startOfDay } from '../../tally/click-day.ts'
import type { LinkCounts, RawClickRow, RawClickSource, RawDayQuery } from '../raw-click-source.ts'

const PAGE_ROWS = 1_000
/** Rows of one query: some megabytes of text. */
const WINDOW_ROWS = 20_000
const SLOT_MICROS = startOfDay(1) / SLOTS_PER_DAY

/** The columns of `RawClickRow` in the feed. */
export const CLICK_ROW = `at, link, keyspace, flags, count, visitor, ${CLICK_DIMENSIONS.join(', ')}`
/** The same of single clicks that are kept for exports. */
export const KEPT_ROW = CLICK_ROW.replace('count', 'kept as count')

export type StoredClick = Omit<Click, 'link_seq'> & {
  readonly link: number
  /** 0 for none. */
  readonly keyspace: number
}

export function rawClickRow({ link, keyspace, ...click }: StoredClick): RawClickRow {
  return { ...click, link_seq: link, keyspace_id: keyspace === 0 ? null : keyspace }
}

/** Reads a day in windows of time that have few enough clicks. Within a day, clicks are in the order of time. */
export function clickHouseRawClicks(db: ClickHouse): RawClickSource {
  return {
    async *pages(query) {
      const { scan } = query
      const { where, params } = conditionOf(query)
      for (const [from, to] of await scan.turn(() => findWindows(db, where, params))) {
        const rows = await scan.turn(() =>
          db.rows<StoredClick>(`select ${KEPT_ROW} from clicks where ${where} order by all`, {
            params: { ...params, from, to },
          }),
        )
        for (let start = 0; start < rows.length; start += PAGE_ROWS) {
          yield rows.slice(start, start + PAGE_ROWS).map(rawClickRow)
        }
      }
    },

    async *linkCounts(query) {
      const { where, params } = conditionOf(query)
      yield await query.scan.turn(() =>
        db.rows<LinkCounts>(
          `select link as linkSeq, sumIf(kept, flags = 0) as persons, sumIf(kept, flags != 0) as others
          from clicks where ${where} group by link`,
          { params },
        ),
      )
    },
  }
}

function conditionOf({ scope, day, fromMicros, toMicros }: RawDayQuery) {
  const from = Math.max(fromMicros, startOfDay(day))
  const to = Math.min(toMicros, startOfDay(day + 1))
  const where = `kept > 0 and workspace = {workspace:UUID} and at >= {from:Int64} and at < {to:Int64} ${ofScope(scope)}`
  const subject =
    scope.kind === 'link' ? scope.linkSeq : scope.kind === 'domain' ? scope.keyspaceId : 0
  return { where, params: { workspace: scope.workspaceId, from, to, subject } }
}

function ofScope({ kind }: ClickScope): string {
  if (kind === 'link') return 'and link = {subject:UInt64}'
  return kind === 'domain' ? 'and keyspace = {subject:UInt64}' : ''
}

/** Divides the clicks of a condition from `params.from` to `params.to`. */
export async function findWindows(
  db: ClickHouse,
  where: string,
  params: { readonly from: number; readonly to: number },
): Promise<Iterable<readonly [from: number, to: number]>> {
  const counts = await db.rows<SlotRows>(
    `select intDiv(at - {from:Int64}, ${SLOT_MICROS}) as slot, count() as rows
    from clicks where ${where} group by slot order by slot`,
    { params },
  )
  return windowsOf(params.from, params.to, counts)
}

/** The number of clicks in a quarter hour, counted from the beginning of what is read. */
type SlotRows = { readonly slot: number; readonly rows: number }

/** Divides a time into windows of about `WINDOW_ROWS` clicks, ascending. Clicks that are added meanwhile are in one too. */
export function* windowsOf(
  from: number,
  to: number,
  counts: readonly SlotRows[],
): Generator<readonly [from: number, to: number]> {
  let start = from
  let held = 0
  for (const { slot, rows } of counts) {
    const begin = from + slot * SLOT_MICROS
    if (held > 0 && held + rows > WINDOW_ROWS) {
      yield [start, begin]
      start = begin
      held = 0
    }
    const parts = Math.ceil(rows / WINDOW_ROWS)
    for (let part = 1; part < parts; part += 1) {
      const end = begin + Math.round((part * SLOT_MICROS) / parts)
      yield [start, end]
      start = end
    }
    held += Math.ceil(rows / parts)
  }
  yield [start, to]
}

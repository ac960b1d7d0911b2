import type { ClickHouseMigration } from '../../../storage/clickhouse/migrate.ts'
import { CLICK_DIMENSIONS } from '../../click.ts'
import { OPENING_AT, OPENING_DAY, SLOTS_PER_DAY } from '../../tally/click-day.ts'
import { SCOPES } from '../fold-days.ts'

/** The workspace of a link's rows: a link's number is unique by itself. */
export const NO_WORKSPACE = '00000000-0000-0000-0000-000000000000'

/**
 * The value that a dimension has no rows for in `click_values`, because most clicks have it: what no row has of a
 * quarter hour's count is its count. Readers leave it out of `link_values` in the same way.
 */
export function impliedValue(dimension: (typeof CLICK_DIMENSIONS)[number]): string {
  return dimension === 'source' ? 'direct' : ''
}

/**
 * How many of the last inserts a table recognizes when they are repeated. A block of clicks is one insert for each month
 * or year that it has clicks of.
 */
export const REMEMBERED_INSERTS = 100_000

/** A block is on disk when its insert is answered. */
const SETTINGS = `non_replicated_deduplication_window = ${REMEMBERED_INSERTS},
  fsync_after_insert = 1, fsync_part_directory = 1`

const DIMENSION_COLUMNS = CLICK_DIMENSIONS.map(
  (dimension) => `${dimension} LowCardinality(String) codec(ZSTD(1))`,
).join(',\n  ')

/** The columns that a single click has wherever it is kept. */
const CLICK_COLUMNS = `at Int64 codec(Delta(8), ZSTD(1)),
  keyspace UInt64 codec(ZSTD(1)),
  flags UInt8 codec(ZSTD(1)),
  count UInt64 codec(T64, ZSTD(1)),
  visitor UInt64 codec(ZSTD(1)),
  ${DIMENSION_COLUMNS}`

const CLICK_VALUES = `at, keyspace, flags, kept as count, visitor, ${CLICK_DIMENSIONS.join(', ')}`

/** A safe integer by which the feed knows a block. */
const BLOCK_NUMBER = 'bitAnd(cityHash64(toString(block)), 9007199254740991)'

const DAY_MICROS = 24 * 60 * 60 * 1_000_000
const SLOT_MICROS = DAY_MICROS / SLOTS_PER_DAY
/** Not negative, because no click is before the day of opening balances. */
const SINCE_OPENING = `toUInt64(at - ${OPENING_AT})`
const DAY = `toInt32(intDiv(${SINCE_OPENING}, ${DAY_MICROS}) + ${OPENING_DAY}) as day`
const SLOT = `toUInt8(intDiv(${SINCE_OPENING} % ${DAY_MICROS}, ${SLOT_MICROS})) as slot`
const COUNTS = 'if(flags = 0, count, 0) as persons, if(flags = 0, 0, count) as others'

/** A row for each subject of a click: scope, subject and workspace. */
const SUBJECTS = `arrayJoin([
    (toUInt8(${SCOPES.link}), link, toUUID('${NO_WORKSPACE}')),
    (toUInt8(${SCOPES.domain}), keyspace, workspace),
    (toUInt8(${SCOPES.workspace}), toUInt64(0), workspace)]) as subjects`
const SUBJECT = 'subjects.1 as scope, subjects.2 as subject, subjects.3 as workspace'

/** Quarter hours since the day of opening balances: the day and the slot in one number. */
const QUARTER = `toInt32(intDiv(${SINCE_OPENING}, ${SLOT_MICROS})) as quarter`
const DAY_OF_QUARTER = `toInt32(intDiv(quarter, ${SLOTS_PER_DAY}) + ${OPENING_DAY}) as day`
const SLOT_OF_QUARTER = `toUInt8(quarter % ${SLOTS_PER_DAY}) as slot`

const DIMENSIONS = CLICK_DIMENSIONS.join(', ')
/** One grouping of clicks for each dimension. The keyspace of the service's own host is of all workspaces. */
const BY_DIMENSION = CLICK_DIMENSIONS.map(
  (dimension) => `(workspace, keyspace, quarter, ${dimension})`,
).join(', ')
/** The dimension of a group is the one that is not left out (0), and its value all that the others' are not. */
const DIMENSION = `[${CLICK_DIMENSIONS.map((dimension) => `'${dimension}'`).join(', ')}][
    indexOf([${CLICK_DIMENSIONS.map((dimension) => `grouping(${dimension})`).join(', ')}], 0)]`
const IMPLIED = "if(dimension = 'source', 'direct', '')"

const SUBJECT_COLUMNS = `scope UInt8,
  subject UInt64 codec(Delta(8), ZSTD(1)),
  workspace UUID codec(ZSTD(1)),`
const DAY_COLUMN = 'day Int32 codec(Delta(4), ZSTD(1)),'
const COUNT_COLUMNS = `slot UInt8 codec(ZSTD(1)),
  persons SimpleAggregateFunction(sum, UInt64) codec(T64, ZSTD(1)),
  others SimpleAggregateFunction(sum, UInt64) codec(T64, ZSTD(1))`

/** By year. The day of opening balances is in the partition of 1970. */
const OF_YEARS = 'engine = AggregatingMergeTree partition by toYear(toDate32(greatest(day, 0)))'

/** The tables that outlive single clicks, by subject. */
export const ROLLUP_TABLES = ['click_counts', 'click_values', 'click_visitors'] as const

/**
 * Clicks are inserted into `incoming_clicks`, which keeps nothing; materialized views pass them on to the other tables.
 * `kept` is the count of the row for exports and the feed, 0 for none (raw-click-quota.ts). `block` is the journal with the
 * positions where the block begins and ends, and `begun_at` when it was first inserted, both the same in a retry. Days, slots, scopes and counts
 * are those of `ClickReports`. `click_values` is of domains and workspaces. Most links have few clicks, of which hardly two
 * are alike in all dimensions or have a quarter hour in common: `link_values` has one row for each, without its instant and
 * visitor, which takes a tenth of what rows for the values of each dimension would take.
 */
export const CLICKHOUSE_MIGRATIONS: readonly ClickHouseMigration[] = [
  {
    name: 'clicks',
    statements: [
      `create table if not exists incoming_clicks (
  block LowCardinality(String),
  begun_at DateTime64(6, 'UTC'),
  workspace UUID,
  link UInt64,
  kept UInt64,
  ${CLICK_COLUMNS.replaceAll(/ codec\(.*\)/g, '')}
) engine = Null`,
      `create table if not exists clicks (
  workspace UUID codec(ZSTD(1)),
  link UInt64 codec(Delta(8), ZSTD(1)),
  ${CLICK_COLUMNS}
) engine = MergeTree partition by toYYYYMM(fromUnixTimestamp64Micro(at, 'UTC'))
order by (workspace, link, at)
settings ${SETTINGS}`,
      `create materialized view if not exists clicks_view to clicks as
select workspace, link, ${CLICK_VALUES} from incoming_clicks where kept > 0`,
      `create table if not exists live_clicks (
  workspace UUID codec(ZSTD(1)),
  begun_at DateTime64(6, 'UTC') codec(ZSTD(1)),
  shown_at DateTime64(6, 'UTC') codec(ZSTD(1)),
  block UInt64 codec(ZSTD(1)),
  link UInt64 codec(Delta(8), ZSTD(1)),
  ${CLICK_COLUMNS}
) engine = MergeTree partition by toStartOfHour(begun_at)
order by (workspace, shown_at, block)
ttl toDateTime(shown_at) + interval 1 day
settings ${SETTINGS}, ttl_only_drop_parts = 1`,
      `create materialized view if not exists live_clicks_view to live_clicks as
select workspace, begun_at, now64(6) as shown_at, ${BLOCK_NUMBER} as block, link, ${CLICK_VALUES}
from incoming_clicks where kept > 0`,
      `create table if not exists click_counts (
  ${SUBJECT_COLUMNS}
  ${DAY_COLUMN}
  ${COUNT_COLUMNS}
) ${OF_YEARS}
order by (scope, subject, workspace, day, slot)
settings ${SETTINGS}`,
      `create materialized view if not exists click_counts_view to click_counts as
select ${SUBJECT}, day, slot, sum(persons) as persons, sum(others) as others
from (
  select ${DAY}, ${SLOT}, ${COUNTS}, ${SUBJECTS}
  from (select workspace, keyspace, link, at, flags, count from incoming_clicks))
group by scope, subject, workspace, day, slot`,
      `create table if not exists click_values (
  ${SUBJECT_COLUMNS}
  dimension LowCardinality(String) codec(ZSTD(1)),
  ${DAY_COLUMN}
  value LowCardinality(String) codec(ZSTD(1)),
  ${COUNT_COLUMNS}
) ${OF_YEARS}
order by (scope, subject, workspace, dimension, day, value, slot)
settings ${SETTINGS}`,
      `create materialized view if not exists click_values_view to click_values as
select subjects.1 as scope, subjects.2 as subject, subjects.3 as workspace, dimension, day, value, slot,
  persons, others
from (
  select dimension, value, ${DAY_OF_QUARTER}, ${SLOT_OF_QUARTER}, persons, others,
    arrayJoin([
      (toUInt8(${SCOPES.domain}), keyspace, workspace),
      (toUInt8(${SCOPES.workspace}), toUInt64(0), workspace)]) as subjects
  from (
    select workspace, keyspace, quarter, ${DIMENSION} as dimension,
      concat(${DIMENSIONS}) as value, sum(of_persons) as persons, sum(of_others) as others
    from (
      select workspace, keyspace, ${QUARTER}, ${DIMENSIONS},
        if(flags = 0, count, 0) as of_persons, if(flags = 0, 0, count) as of_others
      from incoming_clicks)
    group by grouping sets (${BY_DIMENSION}))
  where value != ${IMPLIED})`,
      `create table if not exists link_values (
  link UInt64 codec(Delta(8), ZSTD(1)),
  ${DAY_COLUMN}
  slot UInt8 codec(ZSTD(1)),
  ${DIMENSION_COLUMNS},
  persons UInt64 codec(T64, ZSTD(1)),
  others UInt64 codec(T64, ZSTD(1))
) engine = MergeTree partition by toYear(toDate32(greatest(day, 0)))
order by (link, day, slot)
settings ${SETTINGS}`,
      `create materialized view if not exists link_values_view to link_values as
select link, ${DAY}, ${SLOT}, ${DIMENSIONS}, ${COUNTS}
from (select link, at, flags, count, ${DIMENSIONS} from incoming_clicks)`,
      `create table if not exists click_visitors (
  ${SUBJECT_COLUMNS}
  ${DAY_COLUMN}
  visitors AggregateFunction(uniqCombined64(12), UInt64) codec(ZSTD(1)),
  are_unknown SimpleAggregateFunction(max, UInt8) codec(ZSTD(1))
) ${OF_YEARS}
order by (scope, subject, workspace, day)
settings ${SETTINGS}`,
      `create materialized view if not exists click_visitors_view to click_visitors as
select ${SUBJECT}, day,
  uniqCombined64StateIf(12)(visitor, visitor != 0) as visitors, max(visitor = 0) as are_unknown
from (
  select ${DAY}, visitor, ${SUBJECTS}
  from (select workspace, keyspace, link, at, visitor from incoming_clicks where flags = 0))
group by scope, subject, workspace, day`,
      `create table if not exists click_blocks (
  journal String,
  from_segment Int64,
  from_offset Int64,
  to_segment UInt64,
  to_offset UInt64,
  visits UInt64,
  begun_at DateTime64(6, 'UTC')
) engine = ReplacingMergeTree
order by (journal, from_segment, from_offset)
settings ${SETTINGS}`,
      `create materialized view if not exists click_blocks_view to click_blocks as
select parts[1] as journal, toInt64(parts[2]) as from_segment, toInt64(parts[3]) as from_offset,
  toUInt64(parts[4]) as to_segment, toUInt64(parts[5]) as to_offset, visits, begun_at
from (
  select splitByChar(' ', toString(block)) as parts, sum(count) as visits, min(begun_at) as begun_at
  from (select block, begun_at, count from incoming_clicks)
  group by block)`,
    ],
  },
]

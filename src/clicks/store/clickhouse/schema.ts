import { CLICK_DIMENSIONS, type ClickDimension } from '../../click.ts'
import { OPENING_AT, OPENING_DAY, SLOTS_PER_DAY, startOfDay } from '../../tally/click-day.ts'
import { SCOPES } from '../fold-days.ts'

/** The workspace of a link's rows: a link's number is unique by itself. */
export const NO_WORKSPACE = '00000000-0000-0000-0000-000000000000'

/**
 * The value that a dimension has no rows for in `click_values` and `link_days`, because most clicks have it: what no row has
 * of a quarter hour's count is its count. Readers leave it out of `clicks` in the same way.
 */
export function impliedValue(dimension: ClickDimension): string {
  return dimension === 'source' ? 'direct' : ''
}

const ROWS_MAX = 100_000_000
/** One block stays one block in each table, so that the server recognizes it when it comes again. */
export const ONE_BLOCK = {
  async_insert: 0,
  input_format_parallel_parsing: 0,
  insert_deduplicate: 1,
  deduplicate_blocks_in_dependent_materialized_views: 1,
  max_threads: 1,
  max_insert_threads: '1',
  max_block_size: String(ROWS_MAX),
  max_insert_block_size: String(ROWS_MAX),
  min_insert_block_size_rows: String(ROWS_MAX),
  min_insert_block_size_bytes: '0',
  min_insert_block_size_rows_for_materialized_views: String(ROWS_MAX),
  min_insert_block_size_bytes_for_materialized_views: '0',
  max_partitions_per_insert_block: '0',
} as const

export type ClickTable = {
  readonly name: string
  /** As in `create table`. */
  readonly columns: readonly string[]
  readonly engine: 'Null' | 'MergeTree' | 'AggregatingMergeTree' | 'ReplacingMergeTree'
  /** @param ofClicks the function that makes a partition of a date of single clicks */
  readonly partitionBy?: (ofClicks: string) => string
  readonly orderBy?: string
  readonly ttl?: string
  /** Besides those that all tables with rows have (layout.ts). */
  readonly settings?: readonly string[]
  /** A number of each row, by which a cluster chooses its shard. */
  readonly shardBy: string
}

/** Passes what is inserted into `incoming_clicks` on to a table. */
export type ClickView = { readonly name: string; readonly to: string; readonly query: string }

const DIMENSION_COLUMNS = CLICK_DIMENSIONS.map(
  (dimension) => `${dimension} LowCardinality(String) codec(ZSTD(1))`,
)

/** The columns that a single click has wherever it is kept. */
const CLICK_COLUMNS = [
  'at Int64 codec(Delta(8), ZSTD(1))',
  'keyspace UInt64 codec(ZSTD(1))',
  'flags UInt8 codec(ZSTD(1))',
  'count UInt64 codec(T64, ZSTD(1))',
  'visitor UInt64 codec(ZSTD(1))',
  ...DIMENSION_COLUMNS,
]

const DIMENSIONS = CLICK_DIMENSIONS.join(', ')

/** A safe integer by which the feed knows a block. */
const BLOCK_NUMBER = 'bitAnd(cityHash64(toString(block)), 9007199254740991)'

const DAY_MICROS = startOfDay(1)
const SLOT_MICROS = DAY_MICROS / SLOTS_PER_DAY
/** Quarter hours since the day of opening balances. Not negative, because no click is before that day. */
const QUARTER = `toInt32(intDiv(toUInt64(at - ${OPENING_AT}), ${SLOT_MICROS})) as quarter`
const DAY = `toInt32(intDiv(quarter, ${SLOTS_PER_DAY}) + ${OPENING_DAY}) as day`
const SLOT = `toUInt8(quarter % ${SLOTS_PER_DAY}) as slot`
const PERSONS = 'sumIf(count, flags = 0) as persons'
const OTHERS = 'sumIf(count, flags != 0) as others'

/** A row for each subject of a group of clicks: scope, subject and workspace. */
const OF_LINK = `(toUInt8(${SCOPES.link}), link, toUUID('${NO_WORKSPACE}'))`
const OF_DOMAIN = `(toUInt8(${SCOPES.domain}), keyspace, workspace)`
const OF_WORKSPACE = `(toUInt8(${SCOPES.workspace}), toUInt64(0), workspace)`
const SUBJECT = 'subjects.1 as scope, subjects.2 as subject, subjects.3 as workspace'
const OWNERS = `arrayJoin([${OF_DOMAIN}, ${OF_WORKSPACE}]) as subjects`

/** The keyspace of the service's own host is of all workspaces. As one number, because groups of it cost a third. */
const OWNER = 'cityHash64(workspace, keyspace, quarter) as owner'
const OF_OWNER =
  'any(workspace) as workspace, any(keyspace) as keyspace, any(quarter) as quarter' as const

/** Counts the clicks of domains by the values of a dimension. */
function valuesOf(dimension: ClickDimension): string {
  return `select '${dimension}' as dimension, any(${dimension}) as value,
      ${OF_OWNER}, ${PERSONS}, ${OTHERS}
    from (
      select workspace, keyspace, ${QUARTER}, ${OWNER}, flags, count, ${dimension}
      from incoming_clicks where ${dimension} != '${impliedValue(dimension)}')
    group by owner, cityHash64(${dimension})`
}

/** The values of a click that are stored, with their dimensions. */
export const VALUE_PAIRS = `arrayFilter(pair -> pair.2 != if(pair.1 = 'source', '${impliedValue('source')}', ''), [
          ${CLICK_DIMENSIONS.map((dimension) => `('${dimension}', toString(${dimension}))`).join(', ')}])`

/**
 * Returns a query for rows of `link_days`. No row says which values came together, except of a click that was the only one
 * of its link in a quarter hour.
 *
 * @param clicks a table, with a condition
 */
export function linkDaysOf(clicks: string, folded: 0 | 1): string {
  return `select link, toUInt8(${folded}) as folded, ${DAY}, ${SLOT},
  counted.1 as dimensions, counted.2 as values, counted.3 as persons, counted.4 as others
from (
  select link, quarter, arraySort(groupArray((dimension, value, persons, others))) as counted
  from (
    select link, quarter, pair.1 as dimension, pair.2 as value, ${PERSONS}, ${OTHERS}
    from (select link, ${QUARTER}, flags, count, arrayJoin(${VALUE_PAIRS}) as pair from ${clicks})
    group by link, quarter, dimension, value)
  group by link, quarter)`
}

const SUBJECT_COLUMNS = [
  'scope UInt8',
  'subject UInt64 codec(Delta(8), ZSTD(1))',
  'workspace UUID codec(ZSTD(1))',
]
const DAY_COLUMN = 'day Int32 codec(Delta(4), ZSTD(1))'
const COUNT_COLUMNS = [
  'slot UInt8 codec(ZSTD(1))',
  'persons SimpleAggregateFunction(sum, UInt64) codec(T64, ZSTD(1))',
  'others SimpleAggregateFunction(sum, UInt64) codec(T64, ZSTD(1))',
]

/** By year. The day of opening balances is in the partition of 1970. */
const OF_YEARS = { partitionBy: () => 'toYear(toDate32(greatest(day, 0)))' } as const

/** The day before which single clicks are folded, in a query. */
export const FOLDED_BEFORE = `(
  select coalesce(maxOrNull(before), ${OPENING_DAY}) from click_folds where step = 'folded')`

/**
 * The first day of which single clicks count, in a query: all, unless those of folded days are being deleted. Then the ones
 * that are left are clicks that came after their day was folded.
 */
const COUNTED_SINCE = `(
  select if(argMax(step, (before, at)) in ('folded', 'late'), max(before), ${OPENING_DAY})
  from click_folds where step != 'begun')`

/** Which single clicks are in no sum, neither folded nor moved, in a query. */
export const SINGLE_CLICKS = `count > 0 and at >= ${COUNTED_SINCE} * ${DAY_MICROS}`
/** Leaves out what an unfinished fold has written; only links have folded rows. */
export const IS_READ = `and (folded = 0 or day < ${FOLDED_BEFORE})`

/** The day and the quarter hour of a click, for queries that do not need both. */
export const DAY_OF_CLICK = `toInt32(intDiv(toUInt64(at - ${OPENING_AT}), ${DAY_MICROS}) + ${OPENING_DAY})`
export const SLOT_OF_CLICK = `toUInt8(intDiv(toUInt64(at - ${OPENING_AT}) % ${DAY_MICROS}, ${SLOT_MICROS}))`

/** The tables that outlive single clicks, by subject. `busy_days` is last, because it is made of the others. */
export const ROLLUP_TABLES = [
  'click_counts',
  'click_values',
  'click_visitors',
  'moved_tallies',
  'busy_days',
] as const

/**
 * Clicks are inserted into `incoming_clicks`, which keeps nothing; materialized views pass them on to the other tables.
 * `block` is the journal with the positions where the block begins and ends, and `begun_at` when it was first inserted,
 * both the same in a retry. `is_old` says that the click's day is older than single clicks are kept. `kept` is the count
 * of the row for exports and the feed, 0 for none (raw-click-quota.ts). Days, slots, scopes and counts are those of
 * `ClickReports`.
 *
 * Values and visitors of links are read from `clicks`, which has all clicks of the last days: most links have few, of which
 * hardly two have a quarter hour in common. Before the clicks of a day are deleted, they are folded into `link_days` and
 * `click_visitors`, with `folded` 1 (fold-clicks.ts). Old clicks come there directly, with `folded` 0.
 *
 * Days that were counted in the main database come there too (moved-days.ts). Their single clicks have a `count` of 0,
 * because these tables have them already.
 */
const FIRST_TABLES: readonly ClickTable[] = [
  {
    name: 'incoming_clicks',
    columns: [
      'block LowCardinality(String)',
      "begun_at DateTime64(6, 'UTC')",
      'workspace UUID',
      'link UInt64',
      'kept UInt64',
      'is_old UInt8',
      ...CLICK_COLUMNS.map((column) => column.replace(/ codec\(.*\)$/, '')),
    ],
    engine: 'Null',
    shardBy: 'link',
  },
  {
    name: 'clicks',
    columns: [
      'workspace UUID codec(ZSTD(1))',
      'link UInt64 codec(Delta(8), ZSTD(1))',
      'kept UInt64 codec(T64, ZSTD(1))',
      ...CLICK_COLUMNS,
    ],
    engine: 'MergeTree',
    shardBy: 'link',
    partitionBy: (ofClicks) => `${ofClicks}(fromUnixTimestamp64Micro(at, 'UTC'))`,
    orderBy: 'workspace, link, at',
  },
  {
    name: 'live_clicks',
    columns: [
      'workspace UUID codec(ZSTD(1))',
      "begun_at DateTime64(6, 'UTC') codec(ZSTD(1))",
      "shown_at DateTime64(6, 'UTC') codec(ZSTD(1))",
      'block UInt64 codec(ZSTD(1))',
      'link UInt64 codec(Delta(8), ZSTD(1))',
      ...CLICK_COLUMNS,
    ],
    engine: 'MergeTree',
    shardBy: 'link',
    partitionBy: () => 'toStartOfHour(begun_at)',
    orderBy: 'workspace, shown_at, block',
    ttl: 'toDateTime(shown_at) + interval 1 day',
    settings: ['ttl_only_drop_parts = 1'],
  },
  {
    name: 'click_counts',
    columns: [...SUBJECT_COLUMNS, DAY_COLUMN, ...COUNT_COLUMNS],
    engine: 'AggregatingMergeTree',
    shardBy: 'subject',
    orderBy: 'scope, subject, workspace, day, slot',
    ...OF_YEARS,
  },
  {
    name: 'click_values',
    columns: [
      ...SUBJECT_COLUMNS,
      'dimension LowCardinality(String) codec(ZSTD(1))',
      DAY_COLUMN,
      'value LowCardinality(String) codec(ZSTD(1))',
      ...COUNT_COLUMNS,
    ],
    engine: 'AggregatingMergeTree',
    shardBy: 'subject',
    orderBy: 'scope, subject, workspace, dimension, day, value, slot',
    ...OF_YEARS,
  },
  {
    name: 'click_visitors',
    columns: [
      ...SUBJECT_COLUMNS,
      'folded UInt8 codec(ZSTD(1))',
      DAY_COLUMN,
      'visitors AggregateFunction(uniqCombined64(12), UInt64) codec(ZSTD(1))',
      'are_unknown SimpleAggregateFunction(max, UInt8) codec(ZSTD(1))',
      'known SimpleAggregateFunction(sum, UInt64) codec(T64, ZSTD(1))',
    ],
    engine: 'AggregatingMergeTree',
    shardBy: 'subject',
    orderBy: 'scope, subject, workspace, folded, day',
    ...OF_YEARS,
  },
  {
    name: 'link_days',
    columns: [
      'link UInt64 codec(Delta(8), ZSTD(1))',
      'folded UInt8 codec(ZSTD(1))',
      DAY_COLUMN,
      'slot UInt8 codec(ZSTD(1))',
      'dimensions Array(LowCardinality(String)) codec(ZSTD(1))',
      'values Array(String) codec(ZSTD(1))',
      'persons Array(UInt64) codec(T64, ZSTD(1))',
      'others Array(UInt64) codec(T64, ZSTD(1))',
    ],
    engine: 'MergeTree',
    shardBy: 'link',
    orderBy: 'link, folded, day, slot',
    ...OF_YEARS,
  },
  {
    name: 'click_folds',
    columns: [
      'before Int32',
      'step LowCardinality(String)',
      'parts UInt32',
      "at DateTime64(6, 'UTC') default now64(6)",
    ],
    engine: 'MergeTree',
    shardBy: '0',
    orderBy: 'before, step',
  },
  {
    name: 'click_blocks',
    columns: [
      'journal String',
      'from_segment Int64',
      'from_offset Int64',
      'to_segment UInt64',
      'to_offset UInt64',
      'visits UInt64',
      "begun_at DateTime64(6, 'UTC')",
    ],
    engine: 'ReplacingMergeTree',
    shardBy: '0',
    orderBy: 'journal, from_segment, from_offset',
  },
  {
    name: 'moved_days',
    columns: ['day Int32', 'version UInt64', 'checksum String', 'chunks UInt32', 'is_done UInt8'],
    engine: 'MergeTree',
    shardBy: '0',
    orderBy: 'day, version',
  },
  {
    name: 'moved_tallies',
    columns: [
      'day Int32',
      'version UInt64',
      'chunk UInt32',
      ...SUBJECT_COLUMNS,
      'persons UInt64 codec(T64, ZSTD(1))',
      'others UInt64 codec(T64, ZSTD(1))',
      'data String codec(ZSTD(1))',
    ],
    engine: 'MergeTree',
    shardBy: 'subject',
    orderBy: 'day, version, chunk',
  },
  {
    name: 'move_runs',
    columns: ['run UUID', 'has_ended UInt8', "seen_at DateTime64(6, 'UTC') default now64(6)"],
    engine: 'MergeTree',
    shardBy: '0',
    orderBy: 'run, seen_at',
    ttl: 'toDateTime(seen_at) + interval 1 day',
  },
]

/** The sums of days by value, without quarter hours (busy-days.ts). */
const BUSY_DAYS: ClickTable = {
  name: 'busy_days',
  columns: [
    ...SUBJECT_COLUMNS,
    'dimension LowCardinality(String) codec(ZSTD(1))',
    DAY_COLUMN,
    'clicks UInt64 codec(T64, ZSTD(1))',
    'visitors UInt64 codec(T64, ZSTD(1))',
    'are_unknown UInt8 codec(ZSTD(1))',
    'values Array(String) codec(ZSTD(1))',
    'persons Array(UInt64) codec(T64, ZSTD(1))',
    'others Array(UInt64) codec(T64, ZSTD(1))',
  ],
  engine: 'ReplacingMergeTree',
  shardBy: 'subject',
  orderBy: 'scope, subject, workspace, dimension, day',
  // A chart reads a few hundred rows, and a row has up to thousands of values.
  settings: ['index_granularity = 256'],
  ...OF_YEARS,
}

const FIRST_VIEWS: readonly ClickView[] = [
  {
    name: 'clicks_view',
    to: 'clicks',
    query: `select workspace, link, kept, at, keyspace, flags, count, visitor, ${DIMENSIONS}
from incoming_clicks where is_old = 0`,
  },
  {
    name: 'live_clicks_view',
    to: 'live_clicks',
    query: `select workspace, begun_at, now64(6) as shown_at, ${BLOCK_NUMBER} as block, link,
  at, keyspace, flags, kept as count, visitor, ${DIMENSIONS}
from incoming_clicks where kept > 0`,
  },
  {
    name: 'click_counts_view',
    to: 'click_counts',
    query: `select ${SUBJECT}, ${DAY}, ${SLOT}, persons, others
from (
  select quarter, ${PERSONS}, ${OTHERS}, ${OF_LINK} as subjects
  from (select link, ${QUARTER}, flags, count from incoming_clicks)
  group by link, quarter
  union all
  select quarter, persons, others, ${OWNERS}
  from (
    select ${OF_OWNER}, ${PERSONS}, ${OTHERS}
    from (select workspace, keyspace, ${QUARTER}, ${OWNER}, flags, count from incoming_clicks)
    group by owner))`,
  },
  {
    name: 'click_values_view',
    to: 'click_values',
    query: `select ${SUBJECT}, dimension, ${DAY}, value, ${SLOT}, persons, others
from (
  select dimension, value, quarter, persons, others, ${OWNERS}
  from (
    ${CLICK_DIMENSIONS.map(valuesOf).join('\n    union all\n    ')}))`,
  },
  {
    name: 'click_visitors_view',
    to: 'click_visitors',
    query: `select ${SUBJECT}, toUInt8(0) as folded, day,
  uniqCombined64StateIf(12)(visitor, visitor != 0) as visitors, max(visitor = 0) as are_unknown
from (
  select ${DAY}, visitor, arrayJoin(if(is_old = 1,
    [${OF_LINK}, ${OF_DOMAIN}, ${OF_WORKSPACE}],
    [${OF_DOMAIN}, ${OF_WORKSPACE}])) as subjects
  from (
    select workspace, keyspace, link, ${QUARTER}, visitor, is_old from incoming_clicks
    where flags = 0))
group by scope, subject, workspace, day`,
  },
  {
    name: 'link_days_view',
    to: 'link_days',
    query: linkDaysOf('incoming_clicks where is_old = 1', 0),
  },
  {
    name: 'click_blocks_view',
    to: 'click_blocks',
    query: `select parts[1] as journal, toInt64(parts[2]) as from_segment, toInt64(parts[3]) as from_offset,
  toUInt64(parts[4]) as to_segment, toUInt64(parts[5]) as to_offset, visits, begun_at
from (
  select splitByChar(' ', toString(block)) as parts, sum(count) as visits, min(begun_at) as begun_at
  from (select block, begun_at, count from incoming_clicks)
  group by block)`,
  },
]

/**
 * A partition whose last part is a day old is merged into as few parts as the server's limit allows: what a chart of a few
 * clicks costs is mostly the number of parts.
 */
const MERGED_AT_LAST = `modify setting min_age_to_force_merge_seconds = ${24 * 60 * 60},
  min_age_to_force_merge_on_partition_only = 1, enable_max_bytes_limit_for_min_age_to_force_merge = 1`

/** What a step of the schema adds, in this order. */
export type SchemaStep = {
  readonly name: string
  readonly tables: readonly ClickTable[]
  readonly views?: readonly ClickView[]
  /** Ends of `alter table`, by table. */
  readonly changes?: Readonly<Record<string, string>>
}

export const SCHEMA_STEPS: readonly SchemaStep[] = [
  { name: 'clicks', tables: FIRST_TABLES, views: FIRST_VIEWS },
  { name: 'busy days', tables: [BUSY_DAYS], changes: { clicks: MERGED_AT_LAST } },
]

export const CLICK_TABLES: readonly ClickTable[] = SCHEMA_STEPS.flatMap(({ tables }) => tables)

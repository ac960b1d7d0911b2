import type { ClickHouseAddress } from '../../../storage/clickhouse/clicks-url.ts'
import type { ClickHouseMigration } from '../../../storage/clickhouse/migrate.ts'
import { type ClickTable, type ClickView, SCHEMA_STEPS } from './schema.ts'

/**
 * Where the tables are. On a single server each is itself. In a cluster a table `name_local` is on each server, replicated
 * within its shard, and a distributed table of the name is on each server too, so queries and inserts are the same. A link's
 * clicks are on one shard; views fill the local tables of the shard that an insert reaches.
 */
export type ClickLayout = Pick<ClickHouseAddress, 'cluster' | 'partition' | 'database'>

/** A block is on disk when its insert is answered. */
const DURABLE = 'fsync_after_insert = 1, fsync_part_directory = 1'
/** Of a cluster, they are entries of Keeper, kept for a year. */
const REMEMBERED_INSERTS = { single: 100_000, replicated: 10_000, seconds: 366 * 24 * 60 * 60 }
const PARTITION_OF_CLICKS = { month: 'toYYYYMM', day: 'toYYYYMMDD' } as const

/**
 * Returns how many of the last inserts a table recognizes when they are repeated. A block of clicks is one insert for each
 * month or year that it has clicks of.
 */
export function rememberedInserts({ cluster }: ClickLayout): number {
  return cluster === undefined ? REMEMBERED_INSERTS.single : REMEMBERED_INSERTS.replicated
}

/** Returns the steps of the schema. */
export function clickMigrations(layout: ClickLayout): readonly ClickHouseMigration[] {
  return SCHEMA_STEPS.map(({ name, tables, views = [], changes = {} }) => ({
    name,
    statements: [
      ...tables.flatMap((table) => createTable(table, layout)),
      ...views.map((view) => createView(view, layout)),
      ...Object.entries(changes).map(
        ([table, change]) => `alter table ${changed(table, layout)} ${change}`,
      ),
    ],
  }))
}

/** Returns how a statement that changes a table or its rows names it. */
export function changed(table: string, { cluster }: ClickLayout): string {
  return cluster === undefined ? table : `${table}_local on cluster '${cluster}'`
}

/** Returns the table of the parts that this database's tables have, with a condition. */
export function partsOf({ cluster, database }: ClickLayout): string {
  const parts =
    cluster === undefined ? 'system.parts' : `clusterAllReplicas('${cluster}', system.parts)`
  return `${parts} where active and database = '${database}'`
}

/** Returns the name of a table in `system.parts`. */
export function storedName(table: string, { cluster }: ClickLayout): string {
  return cluster === undefined ? table : `${table}_local`
}

function createTable(table: ClickTable, layout: ClickLayout): readonly string[] {
  const { name, columns, engine, orderBy, ttl, settings = [] } = table
  const { cluster } = layout
  const partitionBy = table.partitionBy?.(PARTITION_OF_CLICKS[layout.partition])
  const create = [
    `create table if not exists ${changed(name, layout)} (\n  ${columns.join(',\n  ')}\n) engine = ${engineOf(engine, layout)}`,
    ...(partitionBy === undefined ? [] : [`partition by ${partitionBy}`]),
    ...(orderBy === undefined ? [] : [`order by (${orderBy})`]),
    ...(ttl === undefined ? [] : [`ttl ${ttl}`]),
    ...(engine === 'Null'
      ? []
      : [`settings ${[deduplication(layout), DURABLE, ...settings].join(', ')}`]),
  ].join('\n')
  if (cluster === undefined) return [create]
  const { database } = layout
  return [
    create,
    `create table if not exists ${name} on cluster '${cluster}' as ${name}_local
engine = Distributed('${cluster}', '${database}', '${name}_local', ${table.shardBy})`,
  ]
}

function createView({ name, to, query }: ClickView, layout: ClickLayout): string {
  const { cluster } = layout
  const on = cluster === undefined ? '' : ` on cluster '${cluster}'`
  const local = query.replaceAll(/\bincoming_clicks\b/g, storedName('incoming_clicks', layout))
  return `create materialized view if not exists ${name}${on} to ${storedName(to, layout)} as\n${local}`
}

/** The servers' macros name the shard and the replica; `{database}` and `{table}` are the server's own. */
function engineOf(engine: ClickTable['engine'], { cluster }: ClickLayout): string {
  if (cluster === undefined || engine === 'Null') return engine
  return `Replicated${engine}('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')`
}

function deduplication({ cluster }: ClickLayout): string {
  const { single, replicated, seconds } = REMEMBERED_INSERTS
  return cluster === undefined
    ? `non_replicated_deduplication_window = ${single}`
    : `replicated_deduplication_window = ${replicated}, replicated_deduplication_window_seconds = ${seconds}`
}

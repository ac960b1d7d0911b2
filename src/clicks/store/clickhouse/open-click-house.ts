import { ClickHouse } from '../../../storage/clickhouse/clickhouse.ts'
import type { ClickHouseAddress } from '../../../storage/clickhouse/clicks-url.ts'
import { migrateClickHouse } from '../../../storage/clickhouse/migrate.ts'
import { CLICKHOUSE_MIGRATIONS } from './schema.ts'

/** The database of clicks, where it is ClickHouse. */
export type ClicksDatabase = {
  readonly address: ClickHouseAddress
  readonly password: string | undefined
}

/** Opens the database of clicks, which is migrated before its first use. */
export function openClickHouse(options: {
  readonly clicks: ClicksDatabase
  readonly timeoutMs: number
  readonly connectionsMax: number
}): ClickHouse {
  const { clicks, ...limits } = options
  return new ClickHouse({
    ...clicks,
    ...limits,
    prepare: (db) => migrateClickHouse(db, CLICKHOUSE_MIGRATIONS),
  })
}

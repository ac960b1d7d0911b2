import { ClickHouse } from '../../../storage/clickhouse/clickhouse.ts'
import type { ClickHouseAccess } from '../../../storage/clickhouse/clicks-url.ts'
import { migrateClickHouse } from '../../../storage/clickhouse/migrate.ts'
import { clickMigrations } from './layout.ts'

/** Returns the database of clicks, which is migrated to this program's schema before its first operation. */
export function openClickDatabase(
  access: ClickHouseAccess,
  limits: { readonly timeoutMs: number; readonly connectionsMax: number },
): ClickHouse {
  return new ClickHouse({
    ...access,
    ...limits,
    prepare: (db) => migrateClickHouse(db, clickMigrations(access.address)),
  })
}

import type { ClickHouseAccess } from '../../storage/clickhouse/clicks-url.ts'
import type { ClickWriter } from '../click-writer.ts'
import { openPostgresClickWriter } from './postgres/click-writer.ts'
import { RawClickQuota } from './raw-click-quota.ts'
import { openSqliteClickWriter } from './sqlite/click-writer.ts'

/**
 * Opens the configured database for a drainer, with separate connections. `openStore` must have migrated it
 * before.
 */
export async function openClickWriter({
  databaseUrl: url,
  clicks,
  dataDir,
  ...options
}: {
  databaseUrl: string | undefined
  /** Where single clicks and charts are, unless in the database. */
  clicks?: ClickHouseAccess | undefined
  dataDir: string
  /** The most raw click rows per workspace and minute; 0 for no limit. */
  rawPerMinute: number
  /** How long raw clicks are kept; 0 keeps them forever. */
  retentionDays: number
  /** Called with the number of visits that were counted without such a row. */
  onRawRefused: (visits: number) => void
  /** Called with the number of ingested visits whose link does not exist: they are counted for no link. */
  onWithoutLink: (visits: number) => void
  /** Called for errors that fail no operation, such as a broken idle connection. */
  onError: (error: unknown) => void
}): Promise<ClickWriter> {
  const rawQuota = new RawClickQuota(options)
  const writer =
    url === undefined
      ? openSqliteClickWriter(dataDir, { ...options, rawQuota })
      : openPostgresClickWriter({ ...options, url, rawQuota })
  if (clicks === undefined) return writer
  const { openClickHouseWriter } = await import('./clickhouse/click-writer.ts')
  return openClickHouseWriter(clicks, { ...options, ledger: writer, rawQuota })
}

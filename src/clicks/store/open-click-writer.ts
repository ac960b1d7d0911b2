import type { ClickWriter } from '../click-writer.ts'
import { openPostgresClickWriter } from './postgres/click-writer.ts'
import { RawClickQuota } from './raw-click-quota.ts'
import { openSqliteClickWriter } from './sqlite/click-writer.ts'

/**
 * Opens the configured database for a drainer, with separate connections. `openStore` must have migrated it
 * before.
 */
export function openClickWriter({
  databaseUrl: url,
  dataDir,
  ...options
}: {
  databaseUrl: string | undefined
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
}): ClickWriter {
  const rawQuota = new RawClickQuota(options)
  return url === undefined
    ? openSqliteClickWriter(dataDir, { ...options, rawQuota })
    : openPostgresClickWriter({ ...options, url, rawQuota })
}

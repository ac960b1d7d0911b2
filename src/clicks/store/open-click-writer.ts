import type { ClickWriter } from '../click-writer.ts'
import { openPostgresClickWriter } from './postgres/click-writer.ts'
import { RawClickRows } from './raw-click-rows.ts'
import { openSqliteClickWriter } from './sqlite/click-writer.ts'

/**
 * Opens the configured database for a drainer, with connections of its own. `openStore` must have
 * brought it to this program's schema.
 */
export function openClickWriter(options: {
  databaseUrl: string | undefined
  dataDir: string
  /** Rows for exports that each workspace may get in a minute; 0 for any number. */
  rawPerMinute: number
  /** Told of visits that were counted without such a row. */
  onRawRefused: (visits: number) => void
  /** Told of faults that fail nothing, such as an idle connection that broke. */
  onError: (error: unknown) => void
}): ClickWriter {
  const { databaseUrl: url, dataDir, rawPerMinute, onRawRefused, onError } = options
  const rawRows = new RawClickRows({ perMinute: rawPerMinute, onRefused: onRawRefused })
  return url === undefined
    ? openSqliteClickWriter(dataDir, rawRows)
    : openPostgresClickWriter({ url, rawRows, onError })
}

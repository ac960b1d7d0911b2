import type { ClickWriter } from '../domain/clicks/click-writer.ts'
import { openPostgresClickWriter } from './postgres/click-writer.ts'
import { openSqliteClickWriter } from './sqlite/click-writer.ts'

/**
 * Opens the configured database for a drainer, with connections of its own. `openStore` must have
 * brought it to this program's schema.
 */
export function openClickWriter(options: {
  databaseUrl: string | undefined
  dataDir: string
  /** Told of faults that fail nothing, such as an idle connection that broke. */
  onError: (error: unknown) => void
}): ClickWriter {
  const { databaseUrl: url, dataDir, onError } = options
  return url === undefined
    ? openSqliteClickWriter(dataDir)
    : openPostgresClickWriter({ url, onError })
}

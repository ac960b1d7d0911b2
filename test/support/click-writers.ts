import { randomUUID } from 'node:crypto'
import type { Click } from '../../src/clicks/click.ts'
import { ClickColumns } from '../../src/clicks/click-columns.ts'
import type { ClickWriter } from '../../src/clicks/click-writer.ts'
import { openClickWriter } from '../../src/clicks/store/open-click-writer.ts'
import type { Place } from './engines.ts'

/** Opens what a drain thread opens, over a database that a store has opened before. */
export function openWriterAt(
  place: Pick<Place, 'databaseUrl' | 'clicks' | 'dataDir'>,
  options: {
    rawPerMinute?: number
    retentionDays?: number
    onRawRefused?: (visits: number) => void
    onWithoutLink?: (visits: number) => void
  } = {},
): Promise<ClickWriter> {
  const { databaseUrl, clicks, dataDir } = place
  const { rawPerMinute = 0, retentionDays = 0, onRawRefused = () => {} } = options
  const { onWithoutLink = () => {} } = options
  return openClickWriter({
    databaseUrl,
    clicks,
    dataDir,
    rawPerMinute,
    retentionDays,
    onRawRefused,
    onWithoutLink,
    onError: () => {},
  })
}

/** Takes clicks in as a whole journal of their own. */
export async function takeClicks(
  writer: ClickWriter,
  clicks: readonly Click[],
  { atMicros = 1 } = {},
): Promise<void> {
  const journalId = randomUUID()
  const to = { segment: 1, offset: 1 }
  const taken = await writer.write({
    journalId,
    from: undefined,
    to,
    clicks: ClickColumns.of(clicks),
    atMicros,
  })
  if (!taken) throw new Error('the clicks were not stored')
}

/** Returns a writer that delegates to `writer`, except for the given operations. */
export function overrideWriter(writer: ClickWriter, operations: Partial<ClickWriter>): ClickWriter {
  return {
    batchMax: writer.batchMax,
    spools: writer.spools,
    findPosition: (journalId) => writer.findPosition(journalId),
    ...(writer.findEnd && { findEnd: writer.findEnd.bind(writer) }),
    write: (batch) => writer.write(batch),
    maintain: (today, oldestDay) => writer.maintain(today, oldestDay),
    erase: (erased) => writer.erase(erased),
    close: () => writer.close(),
    ...operations,
  }
}

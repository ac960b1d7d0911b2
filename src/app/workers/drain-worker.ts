import { parentPort, workerData } from 'node:worker_threads'
import { DrainProgress, type JournalLocation } from '../../clicks/ingest/drain-messages.ts'
import { serveDrain } from '../../clicks/ingest/serve-drain.ts'
import { openClickWriter } from '../../clicks/store/open-click-writer.ts'
import { systemClock } from '../../platform/time/clock.ts'
import { lowerPriority, NICENESS_INCREMENTS } from '../../platform/work/task-thread.ts'
import type { ClickHouseAccess } from '../../storage/clickhouse/clicks-url.ts'

/** The data with which the drain thread starts. */
export type DrainWorkerData = {
  readonly databaseUrl: string | undefined
  readonly clicks: ClickHouseAccess | undefined
  readonly dataDir: string
  readonly journal: JournalLocation
  /** The memory of a `DrainProgress`. */
  readonly progress: SharedArrayBuffer
  /** As in `Drainer`. */
  readonly keepMs: number
  /** Days for which raw clicks are kept; 0 for ever. */
  readonly retentionDays: number
  /** Whether this node removes them afterwards. */
  readonly removesOldClicks: boolean
  /** As in `openClickWriter`. */
  readonly rawPerMinute: number
}

if (parentPort === null) throw new Error('this module runs in a worker thread only')

const { databaseUrl, clicks, dataDir, journal, keepMs, retentionDays, rawPerMinute, ...more } =
  workerData as DrainWorkerData
const port = parentPort
const progress = new DrainProgress(more.progress)
// A batch takes tens of milliseconds, during which visitors would wait for this core.
lowerPriority(NICENESS_INCREMENTS.counting)
serveDrain(port, {
  writer: await openClickWriter({
    databaseUrl,
    clicks,
    dataDir,
    rawPerMinute,
    retentionDays,
    onRawRefused: (clicks) => progress.add('withoutRow', clicks),
    onWithoutLink: (clicks) => progress.add('withoutLink', clicks),
    onError: (error) => port.postMessage({ kind: 'error', error }),
  }),
  clock: systemClock(),
  journal,
  progress,
  keepMs,
  retentionDays: more.removesOldClicks ? retentionDays : 0,
})

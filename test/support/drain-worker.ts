import { Worker } from 'node:worker_threads'
import type { DrainWorkerData } from '../../src/app/workers/drain-worker.ts'
import type { JournalLocation } from '../../src/clicks/ingest/drain-messages.ts'
import type { Place } from './engines.ts'

const PROGRAM = new URL('../../src/app/workers/drain-worker.ts', import.meta.url)

/** Returns a function that starts drain threads over a database, as `app/node/intake.ts` does. */
export function drainWorkers(
  place: Pick<Place, 'databaseUrl' | 'clicks' | 'dataDir'>,
  keepMs = 0,
): (journal: JournalLocation, progress: SharedArrayBuffer) => Worker {
  const { databaseUrl, clicks, dataDir } = place
  return (journal, progress) => {
    const workerData: DrainWorkerData = {
      databaseUrl,
      clicks,
      dataDir,
      journal,
      progress,
      keepMs,
      retentionDays: 0,
      removesOldClicks: true,
      rawPerMinute: 0,
    }
    return new Worker(PROGRAM, { workerData })
  }
}

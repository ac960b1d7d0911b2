import { Worker } from 'node:worker_threads'
import type { JournalPlace } from '../../src/clicks/drain-messages.ts'
import type { DrainWorkerData } from '../../src/compose/drain-worker.ts'
import type { Place } from './engines.ts'

const PROGRAM = new URL('../../src/compose/drain-worker.ts', import.meta.url)

/** What starts drain threads over a database, as `compose/intake.ts` does. */
export function drainWorkers(
  place: Pick<Place, 'databaseUrl' | 'dataDir'>,
  keepMs = 0,
): (journal: JournalPlace, progress: SharedArrayBuffer) => Worker {
  const { databaseUrl, dataDir } = place
  return (journal, progress) => {
    const workerData: DrainWorkerData = {
      databaseUrl,
      dataDir,
      journal,
      progress,
      keepMs,
      retentionDays: 0,
      rawPerMinute: 0,
    }
    return new Worker(PROGRAM, { workerData })
  }
}

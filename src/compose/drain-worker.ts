import { parentPort, workerData } from 'node:worker_threads'
import type { JournalPlace } from '../clicks/drain-messages.ts'
import { DrainProgress } from '../clicks/drain-progress.ts'
import { serveDrain } from '../clicks/serve-drain.ts'
import { systemClock } from '../lib/clock.ts'
import { giveWay, PRIORITY_LESS_BY } from '../lib/give-way.ts'
import { openClickWriter } from '../storage/open-click-writer.ts'

/** What the drain thread is started with. */
export type DrainWorkerData = {
  readonly databaseUrl: string | undefined
  readonly dataDir: string
  readonly journal: JournalPlace
  /** The memory of a `DrainProgress`. */
  readonly progress: SharedArrayBuffer
  /** As of a `Drainer`. */
  readonly keepMs: number
  /** Days for which raw clicks are kept; 0 for ever. */
  readonly retentionDays: number
  /** As of `openClickWriter`. */
  readonly rawPerMinute: number
}

if (parentPort === null) throw new Error('this runs in a thread')

const { databaseUrl, dataDir, journal, keepMs, retentionDays, rawPerMinute, ...shared } =
  workerData as DrainWorkerData
const port = parentPort
const progress = new DrainProgress(shared.progress)
// A batch takes tens of milliseconds, in which visitors would wait for their turns on this core.
giveWay(PRIORITY_LESS_BY.counting)
serveDrain(port, {
  writer: openClickWriter({
    databaseUrl,
    dataDir,
    rawPerMinute,
    onRawRefused: (clicks) => progress.noteWithoutRow(clicks),
    onError: (error) => port.postMessage({ kind: 'error', error }),
  }),
  clock: systemClock(),
  journal,
  progress,
  keepMs,
  retentionDays,
})

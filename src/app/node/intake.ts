import { Worker } from 'node:worker_threads'
import type { Logger } from 'pino'
import {
  type ClickIntake,
  type IntakeReports,
  startClickIntake,
} from '../../clicks/ingest/click-intake.ts'
import { journalsRoot } from '../../clicks/journal/journal-folder.ts'
import { highestWaitingLink } from '../../clicks/journal/journal-scan.ts'
import type { Config } from '../config/read-config.ts'
import type { FullStore } from '../database/stores.ts'
import type { DrainWorkerData } from '../workers/drain-worker.ts'
import type { DataFolder } from './data-folder.ts'

const LOSS_REPORT_INTERVAL_MS = 10_000
/**
 * For how long journals stay that PostgreSQL has taken in. A standby may be promoted without the last
 * transactions, which are then made again.
 */
const KEEP_TAKEN_MS = 60_000
/** A batch of clicks fits, so that collecting garbage does not copy it again and again. */
const DRAIN_YOUNG_MIB = 48

/** This node's way of clicks, with a thread that takes them into the database. */
export function openIntake(
  { config, log, dataFolder }: { config: Config; log: Logger; dataFolder: DataFolder },
  onTakenIn: IntakeReports['onTakenIn'],
): ClickIntake {
  const keepMs = config.databaseUrl === undefined ? 0 : KEEP_TAKEN_MS
  const lossLog = log.child({ folder: journalsRoot(config.dataDir) })
  return startClickIntake({
    keepMs,
    dataDir: config.dataDir,
    startWorker(journal, progress) {
      const { databaseUrl, dataDir, roles, clickRetentionDays, rawClicksPerMinute } = config
      const workerData: DrainWorkerData = {
        databaseUrl,
        dataDir,
        journal,
        progress,
        keepMs,
        // What is old is cleared away by the settings of the nodes whose work that is.
        retentionDays: roles.includes('jobs') ? clickRetentionDays : 0,
        rawPerMinute: rawClicksPerMinute,
      }
      return new Worker(new URL('../workers/drain-worker.ts', import.meta.url), {
        workerData,
        resourceLimits: { maxYoungGenerationSizeMb: DRAIN_YOUNG_MIB },
      })
    },
    durability: config.clickDurability,
    makeRoom: (error) => dataFolder.noteFailure(error),
    onLost: lossReporter(lossLog, 'clicks could not be journalled and are lost'),
    onDoubt: lossReporter(lossLog, 'the disk failed: clicks are lost should the machine stop now'),
    onDamage: (bytes, copy) =>
      log.error({ bytes, copy }, 'the click journal is damaged; set aside'),
    onError: (error) => log.warn({ err: error }, 'clicks wait in the journal'),
    onTakenIn,
  })
}

/**
 * Has new links begin above the numbers that the journals of this data folder name: the database may
 * have been put back to a state that is older than they are. To be called before links can be made.
 */
export async function keepJournalledNumbers(
  { dataDir }: Pick<Config, 'dataDir'>,
  store: FullStore,
): Promise<void> {
  const { clicks } = store.read
  const highest = await highestWaitingLink(dataDir, (id) => clicks.findPosition(id))
  if (highest > 0) await store.write(({ links }) => links.skipNumbers(highest))
}

/** Adds up what comes in quick succession, so that a full disk does not fill the log. */
function lossReporter(log: Logger, message: string): (count: number, error: unknown) => void {
  let unreported = 0
  let reportedAtMs = Number.NEGATIVE_INFINITY
  return (count, error) => {
    unreported += count
    if (performance.now() - reportedAtMs < LOSS_REPORT_INTERVAL_MS) return
    log.error({ err: error, clicks: unreported }, message)
    unreported = 0
    reportedAtMs = performance.now()
  }
}

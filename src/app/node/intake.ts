import { Worker } from 'node:worker_threads'
import type { Logger } from 'pino'
import {
  type ClickIntake,
  type IntakeReports,
  startClickIntake,
} from '../../clicks/ingest/click-intake.ts'
import { IngestionPaused } from '../../clicks/ingest/drain-messages.ts'
import { journalsRoot } from '../../clicks/journal/journal-folder.ts'
import { highestPendingLink } from '../../clicks/journal/journal-reader.ts'
import { folderFaultOf, folderFaultText } from '../../platform/disk/folder.ts'
import { StateLog } from '../../platform/log/state-log.ts'
import type { Config } from '../config/config.ts'
import type { FullStore } from '../database/stores.ts'
import type { Colleagues } from '../metrics/metrics.ts'
import type { DrainWorkerData } from '../workers/drain-worker.ts'
import type { DataFolder } from './data-folder.ts'

/**
 * How long ingested journals are kept with PostgreSQL. A promoted standby may lack the last transactions,
 * whose clicks are then ingested again.
 */
const KEEP_INGESTED_MS = 60_000

/** Opens this node's click intake, with a thread that writes the clicks to the database. */
export function openIntake(
  parts: {
    config: Config
    log: Logger
    dataFolder: DataFolder
    shared: Pick<Colleagues, 'number'> | undefined
  },
  onIngested: IntakeReports['onIngested'],
): ClickIntake {
  const { config, log, dataFolder, shared } = parts
  const keepMs = config.databaseUrl === undefined ? 0 : KEEP_INGESTED_MS
  const journalLog = log.child({ folder: journalsRoot(config.dataDir) })
  const losses = new StateLog({
    log: journalLog,
    level: 'error',
    begins: 'journal write failed, clicks lost',
    ends: 'journal written again',
    quietMs: Number.POSITIVE_INFINITY,
  })
  const doubts = new StateLog({
    log: journalLog,
    level: 'error',
    begins: 'journal sync failed, clicks doubtful',
    ends: 'no journal sync failed any more',
  })
  return startClickIntake({
    keepMs,
    ...(shared && { processNumber: shared.number }),
    dataDir: config.dataDir,
    startWorker(journal, progress) {
      const { databaseUrl, clicks, dataDir, roles, clickRetentionDays, rawClicksPerMinute } = config
      const workerData: DrainWorkerData = {
        databaseUrl,
        clicks,
        dataDir,
        journal,
        progress,
        keepMs,
        retentionDays: clickRetentionDays,
        // By their own settings.
        removesOldClicks: roles.includes('jobs'),
        rawPerMinute: rawClicksPerMinute,
      }
      return new Worker(new URL('../workers/drain-worker.ts', import.meta.url), { workerData })
    },
    durability: config.clickDurability,
    freeSpace: (error) => dataFolder.noteFailure(error),
    onLost: (count, error) => losses.report(faultKind(error), { err: error }, count),
    onRecovered: () => losses.endAll(),
    onRestored: (bytes) => journalLog.warn({ bytes }, 'journal restored'),
    onDoubt: (count, error) => doubts.report(faultKind(error), { err: error }, count),
    onDamage(damage) {
      journalLog.error(damage, damage.bytes > 0 ? 'journal damaged' : 'journal segments missing')
    },
    onError(error) {
      const isPaused = error instanceof Error && error.name === IngestionPaused.name
      if (!isPaused) log.warn({ err: error }, 'click ingestion failed')
    },
    onIngested,
  })
}

/**
 * Makes new links start above the link numbers in the journals of this data folder, because the database may
 * have been restored to an older state. Must be called before links can be created.
 */
export async function keepJournalledNumbers(
  { dataDir }: Pick<Config, 'dataDir'>,
  store: FullStore,
): Promise<void> {
  const { clicks } = store.read
  const highest = await highestPendingLink(dataDir, (id) => clicks.findPosition(id))
  if (highest > 0) await store.write(({ links }) => links.skipNumbers(highest))
}

/** Why clicks cannot be stored, as a sentence for people; undefined while they can. */
export function journalFaultText(
  { dataDir }: Pick<Config, 'dataDir'>,
  { fault }: Pick<ClickIntake, 'fault'>,
): string | undefined {
  if (fault === undefined) return undefined
  const folder = journalsRoot(dataDir)
  const known = folderFaultOf(fault)
  const text =
    known === undefined
      ? `The journal of clicks in ${folder} cannot be written: ${fault instanceof Error ? fault.message : fault}.`
      : folderFaultText(known, folder)
  return `${text} Clicks are lost meanwhile.`
}

function faultKind(error: unknown): string {
  return folderFaultOf(error) ?? 'other'
}

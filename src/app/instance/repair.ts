import { countClicksAfter, positionAfterClicks } from '../../clicks/journal/journal-reader.ts'
import type { RepairReport } from '../../operations/commands/repair.ts'
import { hasDataFiles } from '../../platform/database/sqlite/data-files.ts'
import { NoInstance } from '../../platform/database/store.ts'
import { systemClock } from '../../platform/time/clock.ts'
import type { Config } from '../config/read-config.ts'
import { type RepairStep, repairFiles } from '../database/sqlite/repair-files.ts'
import { instanceFault } from './instance-fault.ts'

/** What each step does, and which data it loses. */
const MEANING: Readonly<Record<RepairStep['action'], string>> = {
  'accept links':
    'The links and changes that it lacks are lost. New links never get the number of a lost link, so clicks of a lost link are not shown for a new one.',
  'recount links':
    'The number of links is counted again. Links may be missing: the file is probably a copy that was made while the service ran.',
  recount:
    'Days whose files in clicks/ differ from what it has counted are counted again from these. Clicks that are in none of the files are lost, and of these days those that were counted without a row (TERSE_RAW_CLICKS_PER_MINUTE).',
  'recount all':
    'All days that have a file in clicks/ are counted again from it; those that were counted without a row (TERSE_RAW_CLICKS_PER_MINUTE) are lost. Charts of other days stay as they are.',
  'replace clicks':
    'It is set aside and made again from the files in clicks/. Counts of days without such a file (older than TERSE_CLICK_RETENTION_DAYS) are lost, and clicks that were counted without a row (TERSE_RAW_CLICKS_PER_MINUTE).',
  'salvage clicks':
    'It is set aside, and made again from what can be read of it and from the files in clicks/. Days that have such a file are counted again. The charts of other days that cannot be read are lost; the counter of each link that can be read stays, and what its charts lack is shown as clicks without a date.',
  'salvage day':
    'It is set aside, and made again from the clicks that can be read. The others cannot be exported any more; what was counted of them stays.',
  'set aside':
    'It is set aside. The clicks of the day cannot be exported any more; what was counted of them stays unless clicks.db has to be made again.',
  'accept day': 'Clicks that it lacks cannot be exported any more; what was counted of them stays.',
}

/**
 * Checks the files of the configured data folder; repairs them when `execute` is true.
 *
 * @throws when the data is in PostgreSQL, or a process has the folder open
 */
export async function repairDataFolder(
  config: Pick<Config, 'databaseUrl' | 'dataDir' | 'settingsFile'>,
  execute: boolean,
): Promise<RepairReport> {
  const { databaseUrl, dataDir } = config
  if (databaseUrl !== undefined) {
    throw new Error('The data is in PostgreSQL (TERSE_DATABASE_URL). This repairs SQLite files.')
  }
  if (!hasDataFiles(dataDir)) throw instanceFault(config, new NoInstance())
  const { faults, steps } = await repairFiles(
    dataDir,
    {
      clicksAfter: (id, from) => countClicksAfter(dataDir, id, from),
      positionAfter: (id, from, clicks) => positionAfterClicks(dataDir, id, from, clicks),
    },
    { execute, clock: systemClock() },
  )
  return {
    faults,
    steps: steps?.map((step) => ({ file: step.file, meaning: meaningOf(step) })),
  }
}

function meaningOf({ action, reading }: RepairStep): string {
  if (reading === undefined) return MEANING[action]
  const { rows, gaps } = reading
  const unread = gaps === 0 ? 'all that are left' : `all but those in ${gaps} damaged ranges`
  return `${rows} rows can be read, ${unread}. ${MEANING[action]}`
}

import { existsSync, renameSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { countClicksAfter, positionAfterClicks } from '../../../clicks/journal/journal-reader.ts'
import { SCOPES } from '../../../clicks/store/fold-days.ts'
import {
  listRawDays,
  rawClicksFile,
  rawClicksFolder,
} from '../../../clicks/store/sqlite/raw-click-files.ts'
import { checkFiles } from '../../../data-files/check-files.ts'
import { type ClicksAfter, examineFiles } from '../../../data-files/examine-files.ts'
import { FolderLock } from '../../../data-files/folder-lock.ts'
import { skipLinkNumbers } from '../../../links/store/sqlite/link-sequence.ts'
import type { RepairReport } from '../../../operations/commands/repair.ts'
import { createFolder } from '../../../platform/disk/folder.ts'
import { type Clock, systemClock } from '../../../platform/time/clock.ts'
import {
  CLICKS_FILE,
  DAYS_FOLDER,
  type FileFault,
  LINKS_FILE,
  writeLastCheck,
} from '../../../storage/file-fault.ts'
import { LINKS_PER_BUCKET } from '../../../storage/schema.ts'
import { kyselyOver, openToRead, SqliteConnection } from '../../../storage/sqlite/connection.ts'
import { countedFile, hasDataFiles, sqliteFile } from '../../../storage/sqlite/data-files.ts'
import { hasTable, removeClicksMark, removeLinksMark } from '../../../storage/sqlite/file-marks.ts'
import type { Reading } from '../../../storage/sqlite/salvage.ts'
import { inTransaction } from '../../../storage/sqlite/transaction.ts'
import { NoInstance } from '../../../storage/store.ts'
import type { Config } from '../../config/config.ts'
import { instanceFault } from '../../start-faults.ts'
import { makeClicksFile, type PositionAfter, rebuildClicks } from './rebuild-clicks.ts'
import { salvageDay, surveyFile } from './salvage-files.ts'

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

/** Added to the steps that make clicks.db again, where clicks are in ClickHouse. */
const WITHOUT_CLICKHOUSE =
  ' Clicks in ClickHouse (TERSE_CLICKS_URL) are not read: charts stay, but counters of links that cannot be read begin at 0. Restore a backup instead.'

/**
 * Checks the files of the configured data folder; repairs them when `execute` is true.
 *
 * @throws when the data is in PostgreSQL, or a process has the folder open
 */
export async function repairDataFolder(
  config: Pick<Config, 'databaseUrl' | 'clicks' | 'dataDir' | 'settingsFile'>,
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
  const added = ({ action }: RepairStep) =>
    config.clicks !== undefined && /^(replace|salvage) clicks$/.test(action)
      ? WITHOUT_CLICKHOUSE
      : ''
  return {
    faults,
    steps: steps?.map((step) => ({ file: step.file, meaning: meaningOf(step) + added(step) })),
  }
}

function meaningOf({ action, reading }: RepairStep): string {
  if (reading === undefined) return MEANING[action]
  const { rows, gaps } = reading
  const unread = gaps === 0 ? 'all that are left' : `all but those in ${gaps} damaged ranges`
  return `${rows} rows can be read, ${unread}. ${MEANING[action]}`
}

const BUSY_MS = 5_000

type Journals = { readonly clicksAfter: ClicksAfter; readonly positionAfter: PositionAfter }

type RepairStep = {
  readonly action:
    | 'accept links'
    | 'recount links'
    | 'recount'
    | 'recount all'
    | 'replace clicks'
    | 'salvage clicks'
    | 'set aside'
    | 'salvage day'
    | 'accept day'
  /** Relative to the data folder. */
  readonly file: string
  /** What can be read of a damaged file. */
  readonly reading?: Reading
}

type RepairPlan = {
  readonly faults: readonly FileFault[]
  /** Undefined when a fault cannot be repaired. */
  readonly steps: readonly RepairStep[] | undefined
}

/**
 * Finds the faults of a data folder's files and repairs them if `execute` is true. Damaged files
 * are moved to a separate folder, never deleted.
 *
 * @throws when a process has the folder open
 */
async function repairFiles(
  dataDir: string,
  journals: Journals,
  { execute, clock }: { execute: boolean; clock: Clock },
): Promise<RepairPlan> {
  const lock = new FolderLock(dataDir)
  const plan = await lock.enter(async (isFirst) => {
    if (!isFirst) throw new Error('The service is running on this data folder. Stop it first.')
    const planned = planRepair(dataDir, journals.clicksAfter)
    if (execute && planned.steps !== undefined && planned.steps.length > 0) {
      await carryOut(dataDir, planned.steps, journals.positionAfter, clock)
    }
    return planned
  })
  await lock.leave(async () => {})
  return plan
}

function planRepair(dataDir: string, clicksAfter: ClicksAfter): RepairPlan {
  const examined = examineFiles(dataDir, clicksAfter).faults
  const checked = checkFiles(dataDir, { isFull: true, daysSinceMs: 0 })
  // A damaged file is no evidence about the others.
  const isDamaged = new Set(checked.map(({ file }) => file))
  const faults = [...checked, ...examined.filter(({ file }) => !isDamaged.has(file))]
  const steps = new Map<string, RepairStep>()
  for (const { file, kind } of faults) {
    const isLost = kind === 'damaged' || kind === 'missing'
    if (file === LINKS_FILE && isLost) return { faults, steps: undefined }
    const step = stepFor(dataDir, file, kind)
    steps.set(`${step.action} ${step.file}`, step)
  }
  // Replacing clicks.db recounts all days.
  const isReplaced = ['replace', 'salvage'].some((how) => steps.has(`${how} clicks ${CLICKS_FILE}`))
  if (isReplaced) steps.delete(`recount all ${CLICKS_FILE}`)
  if (isReplaced || steps.has(`recount all ${CLICKS_FILE}`)) steps.delete(`recount ${CLICKS_FILE}`)
  return { faults, steps: [...steps.values()] }
}

function stepFor(dataDir: string, file: string, kind: FileFault['kind']): RepairStep {
  if (file === LINKS_FILE) {
    return { action: kind === 'older' ? 'accept links' : 'recount links', file }
  }
  if (file.startsWith(`${DAYS_FOLDER}/`)) {
    if (kind !== 'damaged') return { action: 'accept day', file }
    const reading = surveyFile(dataDir, file)
    return reading ? { action: 'salvage day', file, reading } : { action: 'set aside', file }
  }
  // The fault of a journal is that it lacks clicks that are in a day's file but not counted.
  if (file !== CLICKS_FILE || kind === 'older') return { action: 'recount', file: CLICKS_FILE }
  if (kind === 'miscounted') return { action: 'recount all', file }
  const reading = surveyFile(dataDir, file)
  return reading ? { action: 'salvage clicks', file, reading } : { action: 'replace clicks', file }
}

async function carryOut(
  dataDir: string,
  steps: readonly RepairStep[],
  positionAfter: PositionAfter,
  clock: Clock,
): Promise<void> {
  const aside = path.join(dataDir, `set-aside-${new Date(clock.nowMicros() / 1_000).toISOString()}`)
  const has = (action: RepairStep['action']) => steps.some((step) => step.action === action)
  for (const { action, file } of steps) {
    if (action !== 'set aside' && action !== 'salvage day') continue
    setAside(dataDir, file, aside)
    if (action === 'salvage day') salvageDay(dataDir, file, path.join(aside, file))
  }
  const isMade = has('replace clicks') || has('salvage clicks')
  if (isMade) {
    setAside(dataDir, CLICKS_FILE, aside)
    await makeClicksFile(dataDir, clock)
  }
  const days = isMade || has('recount all') ? 'all' : 'differing'
  const salvagedFrom = has('salvage clicks') ? path.join(aside, CLICKS_FILE) : undefined
  if (days === 'all' || has('recount')) {
    await rebuildClicks(dataDir, { days, positionAfter, salvagedFrom })
  }
  if (has('recount links')) await recountLinks(dataDir)
  await unmark(dataDir)
  const startedMs = Date.now()
  const faults = checkFiles(dataDir, { isFull: true, daysSinceMs: 0 })
  writeLastCheck(dataDir, { startedMs, endedMs: Date.now(), isFull: true, faults })
}

function setAside(dataDir: string, file: string, aside: string): void {
  for (const name of [file, `${file}-wal`, `${file}-shm`]) {
    const from = path.join(dataDir, name)
    if (!existsSync(from)) continue
    const to = path.join(aside, name)
    createFolder(path.dirname(to))
    renameSync(from, to)
  }
}

async function recountLinks(dataDir: string): Promise<void> {
  const links = new DatabaseSync(sqliteFile(dataDir), { timeout: BUSY_MS })
  try {
    links.exec('pragma synchronous = full')
    await inTransaction(links, BUSY_MS, () =>
      links.exec(`
        delete from link_buckets;
        insert into link_buckets (workspace_id, bucket, links, archived)
          select workspace_id, seq / ${LINKS_PER_BUCKET}, count(*), sum(archived) from links group by 1, 2`),
    )
  } finally {
    links.close()
  }
}

/**
 * Removes the marks from the files, so that the next start accepts them as an unmarked set, and
 * makes new links start above every number that a click refers to.
 */
async function unmark(dataDir: string): Promise<void> {
  const links = new DatabaseSync(sqliteFile(dataDir), { timeout: BUSY_MS })
  const clicks = new DatabaseSync(countedFile(dataDir), { timeout: BUSY_MS })
  try {
    for (const database of [links, clicks]) database.exec('pragma synchronous = full')
    const highest = Math.max(highestCountedLink(clicks), highestRawLink(dataDir))
    await inTransaction(clicks, BUSY_MS, () => removeClicksMark(clicks))
    await inTransaction(links, BUSY_MS, async () => {
      await skipLinkNumbers(kyselyOver(new SqliteConnection(links)), highest)
      removeLinksMark(links)
    })
  } finally {
    clicks.close()
    links.close()
  }
}

function highestCountedLink(clicks: DatabaseSync): number {
  const row = clicks
    .prepare(
      `select max(seq) as seq from (
         select max(link_seq) as seq from link_clicks
         union all select links_seen from file_marks
         union all select max(subject) from click_days where scope = ${SCOPES.link})`,
    )
    .get()
  return Number(row?.seq ?? 0)
}

function highestRawLink(dataDir: string): number {
  const folder = rawClicksFolder(dataDir)
  return listRawDays(folder).reduce((highest, day) => {
    const file = openToRead(rawClicksFile(folder, day), BUSY_MS)
    try {
      if (!hasTable(file, 'main', 'clicks')) return highest
      const row = file.prepare('select max(link_seq) as seq from clicks').get()
      return Math.max(highest, Number(row?.seq ?? 0))
    } finally {
      file.close()
    }
  }, 0)
}

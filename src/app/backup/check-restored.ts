import { rmSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { isDeepStrictEqual } from 'node:util'
import { type BackupContent, DamagedBackup } from '../../backup/index.ts'
import { countClicksAfter } from '../../clicks/journal/journal-reader.ts'
import { systemClock } from '../../platform/time/clock.ts'
import type { FileFault } from '../../storage/file-fault.ts'
import { checkInstanceKey, hasInstanceKey, loadSecretKey } from '../../storage/instance-keys.ts'
import { sqliteFile } from '../../storage/sqlite/data-files.ts'
import { readLinksMark, writeLinksMark } from '../../storage/sqlite/file-marks.ts'
import { openStore } from '../database/open-store.ts'
import { checkFiles } from '../database/sqlite/check-files.ts'
import { examineFiles, filesIdentity } from '../database/sqlite/examine-files.ts'
import { endRun } from '../database/sqlite/file-run.ts'
import { totalsOfFolder } from './backup-totals.ts'

/**
 * How far the numbers of new links skip ahead of the restored ones. Journals, cached links and copies of the
 * folder that are newer than the backup may name up to so many links that it does not know.
 */
export const LINK_NUMBERS_SKIPPED = 2 ** 24

/**
 * Checks a restored folder in full: its totals, its files and how they belong together. With SQLite it then
 * migrates the database to this program's schema, and makes new links start above every number that was given
 * since the backup.
 *
 * @param key the secret key when it is not in the folder; undefined to not check it against the database
 * @throws {DamagedBackup} when the folder is not what was backed up, or that was damaged
 */
export async function checkRestored(
  dataDir: string,
  content: BackupContent,
  key: Buffer | undefined,
): Promise<void> {
  const totals = totalsOfFolder(dataDir, content.engine)
  if (!isDeepStrictEqual(totals, content.totals)) {
    throw new DamagedBackup(
      `the restored data differs from the totals in the manifest: expected ${JSON.stringify(content.totals)}, found ${JSON.stringify(totals)}`,
    )
  }
  if (content.engine === 'postgres') return
  const { faults } = examineFiles(dataDir, (id, from) => countClicksAfter(dataDir, id, from))
  refuse(faults)
  refuse(checkFiles(dataDir, { isFull: true, daysSinceMs: 0 }))
  await endRun(dataDir)
  markAsOriginal(dataDir)
  await migrate(dataDir, loadSecretKey(dataDir) ?? key)
  rmSync(path.join(dataDir, 'locks'), { recursive: true, force: true })
}

function refuse(faults: readonly FileFault[]): void {
  const [first] = faults
  if (first === undefined) return
  throw new DamagedBackup(`${first.file}: ${first.text}`)
}

/** Spares the first start another full check: the files are copies, but have just been checked. */
function markAsOriginal(dataDir: string): void {
  const links = new DatabaseSync(sqliteFile(dataDir))
  try {
    const mark = readLinksMark(links)
    if (mark === undefined) return
    const identity = filesIdentity(dataDir)
    writeLinksMark(links, { ...mark, identity, uncheckedSinceMs: null })
  } finally {
    links.close()
  }
}

async function migrate(dataDir: string, key: Buffer | undefined): Promise<void> {
  const errors: unknown[] = []
  const { store } = await openStore({
    databaseUrl: undefined,
    dataDir,
    clock: systemClock(),
    timeoutMs: 0,
    mustExist: true,
    onError: (error) => errors.push(error),
    onAvailability() {},
  })
  try {
    if (key !== undefined && (await hasInstanceKey(store))) await checkInstanceKey(store, key)
    const last = await store.read.links.lastNumber()
    await store.write(({ links }) => links.skipNumbers(last + LINK_NUMBERS_SKIPPED))
  } finally {
    await store.close()
  }
  const [error] = errors
  if (error !== undefined) throw error
}

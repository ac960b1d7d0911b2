import { statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { isDeepStrictEqual } from 'node:util'
import {
  checkClickSums,
  checkDaySums,
  checkLinkSums,
} from '../../../clicks/store/sqlite/check-sums.ts'
import {
  listRawDays,
  rawClicksFile,
  rawClicksFolder,
} from '../../../clicks/store/sqlite/raw-click-days.ts'
import { formatDay } from '../../../clicks/tally/click-day.ts'
import {
  CLICKS_FILE,
  DAYS_FOLDER,
  type FileFault,
  LINKS_FILE,
} from '../../../platform/database/file-fault.ts'
import { countedFile, sqliteFile } from '../../../platform/database/sqlite/data-files.ts'
import { textOf } from '../../../platform/database/sqlite/errors.ts'
import { hasTable } from '../../../platform/database/sqlite/file-marks.ts'
import { hasLog, openToRead } from '../../../platform/database/sqlite/open-to-read.ts'

/** Faults that are reported of one file. */
const FAULTS_MAX = 5
const TIMEOUT_MS = 5_000

export type FileCheck = {
  /**
   * Whether to compare indexes with their tables and charts with counters too, in all files. Else the
   * structure and the sums are checked, of the days' files where something may have been written.
   */
  readonly isFull: boolean
  /** Days' files that were written before it are left out, unless the check is full. */
  readonly daysSinceMs: number
}

/**
 * Reads the files of a data folder and returns what is wrong with each. Other processes may be writing
 * to them. Reads at the speed of the disk, or at some 100 MiB/s, for as long as it takes.
 */
export function checkFiles(dataDir: string, check: FileCheck): readonly FileFault[] {
  const faults: FileFault[] = []
  const look = (name: string, file: string, sums: (database: DatabaseSync) => FileFault[]) => {
    faults.push(...checkFile({ name, file, sums, isFull: check.isFull }))
  }
  look(LINKS_FILE, sqliteFile(dataDir), (database) =>
    hasTable(database, 'main', 'link_buckets') ? checkLinkSums(database) : [],
  )
  look(CLICKS_FILE, countedFile(dataDir), (database) => checkClickSums(database, check))
  const folder = rawClicksFolder(dataDir)
  for (const day of listRawDays(folder)) {
    const file = rawClicksFile(folder, day)
    if (!check.isFull && !isWrittenSince(file, check.daysSinceMs)) continue
    const name = `${DAYS_FOLDER}/${formatDay(day)}.db`
    look(name, file, (database) =>
      hasTable(database, 'main', 'workspaces') ? checkDaySums(database, name) : [],
    )
  }
  return faults
}

type Look = {
  readonly name: string
  readonly file: string
  readonly isFull: boolean
  readonly sums: (database: DatabaseSync) => FileFault[]
}

function checkFile(look: Look): FileFault[] {
  const { file } = look
  for (;;) {
    const before = stateOf(file)
    const faults = checkOnce(look)
    // It was removed, or somebody began to write to a file that was taken to be complete.
    const after = stateOf(file)
    if (after === undefined) return []
    if (faults.length === 0 || before?.hasLog || isDeepStrictEqual(before, after)) return faults
  }
}

function checkOnce({ name, file, isFull, sums }: Look): FileFault[] {
  const fault = (text: string): FileFault => ({ file: name, kind: 'damaged', text })
  let database: DatabaseSync | undefined
  try {
    database = openToRead(file, TIMEOUT_MS)
    const pragma = isFull ? 'integrity_check' : 'quick_check'
    const rows = database.prepare(`pragma ${pragma}(${FAULTS_MAX})`).all()
    const texts = rows.map((row) => String(Object.values(row)[0]).replaceAll(/\s+/g, ' '))
    return texts.join() === 'ok' ? sums(database) : texts.map(fault)
  } catch (error) {
    return [fault(textOf(error))]
  } finally {
    database?.close()
  }
}

function stateOf(file: string) {
  const stats = statSync(file, { throwIfNoEntry: false })
  return stats && { hasLog: hasLog(file), size: stats.size, mtimeMs: stats.mtimeMs }
}

function isWrittenSince(file: string, sinceMs: number): boolean {
  return hasLog(file) || (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0) >= sinceMs
}

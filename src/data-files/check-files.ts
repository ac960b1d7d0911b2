import { statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { isDeepStrictEqual } from 'node:util'
import { formatDay } from '../clicks/index.ts'
import {
  checkClickSums,
  checkDaySums,
  checkLinkSums,
  listRawDays,
  rawClicksFile,
  rawClicksFolder,
} from '../clicks/store/index.ts'
import { CLICKS_FILE, DAYS_FOLDER, type FileFault, LINKS_FILE } from '../storage/file-fault.ts'
import { hasLog, openToRead } from '../storage/sqlite/connection.ts'
import { countedFile, sqliteFile } from '../storage/sqlite/data-files.ts'
import { textOf } from '../storage/sqlite/errors.ts'
import { hasTable } from '../storage/sqlite/file-marks.ts'

/** The maximum number of faults reported for one file. */
const FAULTS_MAX = 5
const TIMEOUT_MS = 5_000

export type FileCheck = {
  /**
   * Whether to also compare indexes with their tables and charts with counters, in all files.
   * Otherwise checks the structure and the sums, and only those days' files that may have been
   * written to.
   */
  readonly isFull: boolean
  /** Days' files last written before this time are skipped, unless the check is full. */
  readonly daysSinceMs: number
}

/**
 * Checks the files of a data folder and returns their faults. Other processes may be writing to the
 * files. Reads every page, at disk speed or about 100 MiB/s, so it may take minutes.
 */
export function checkFiles(dataDir: string, scope: FileCheck): readonly FileFault[] {
  const faults: FileFault[] = []
  const check = (name: string, file: string, sums: (database: DatabaseSync) => FileFault[]) => {
    faults.push(...checkFile({ name, file, sums, isFull: scope.isFull }))
  }
  check(LINKS_FILE, sqliteFile(dataDir), (database) =>
    hasTable(database, 'main', 'link_buckets') ? checkLinkSums(database) : [],
  )
  check(CLICKS_FILE, countedFile(dataDir), (database) => checkClickSums(database, scope))
  const folder = rawClicksFolder(dataDir)
  for (const day of listRawDays(folder)) {
    const file = rawClicksFile(folder, day)
    if (!scope.isFull && !isWrittenSince(file, scope.daysSinceMs)) continue
    const name = `${DAYS_FOLDER}/${formatDay(day)}.db`
    check(name, file, (database) =>
      hasTable(database, 'main', 'workspaces') ? checkDaySums(database, name) : [],
    )
  }
  return faults
}

type FileToCheck = {
  readonly name: string
  readonly file: string
  readonly isFull: boolean
  readonly sums: (database: DatabaseSync) => FileFault[]
}

function checkFile(request: FileToCheck): FileFault[] {
  const { file } = request
  for (;;) {
    const before = writeStateOf(file)
    const faults = checkOnce(request)
    // Check again if another process began to write to the file, which was opened as immutable. A
    // removed file has no faults.
    const after = writeStateOf(file)
    if (after === undefined) return []
    if (faults.length === 0 || before?.hasLog || isDeepStrictEqual(before, after)) return faults
  }
}

function checkOnce({ name, file, isFull, sums }: FileToCheck): FileFault[] {
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

function writeStateOf(file: string) {
  const stats = statSync(file, { throwIfNoEntry: false })
  return stats && { hasLog: hasLog(file), size: stats.size, mtimeMs: stats.mtimeMs }
}

function isWrittenSince(file: string, sinceMs: number): boolean {
  return hasLog(file) || (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0) >= sinceMs
}

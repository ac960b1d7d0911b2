import { countClicksAfter } from '../../clicks/journal/journal-reader.ts'
import { checkFiles } from '../../data-files/check-files.ts'
import { examineFiles } from '../../data-files/examine-files.ts'
import { isFolderOpen } from '../../data-files/folder-lock.ts'
import type { Finding } from '../../operations/doctor/host-findings.ts'
import { folderFaultOf } from '../../platform/disk/folder.ts'
import { terseCommand } from '../../platform/process/terse-command.ts'
import { type FileFault, filesAdvice, readLastCheck } from '../../storage/file-fault.ts'
import { sqliteFolderFault, textOf } from '../../storage/sqlite/errors.ts'
import type { Config } from '../config/config.ts'

const SUBJECT = 'files'

/** As `checkedFindings`, or `skipped` where the folder cannot be used; the finding about the disk says why. */
export function fileFindings(config: Pick<Config, 'databaseUrl' | 'dataDir'>): readonly Finding[] {
  try {
    return checkedFindings(config)
  } catch (error) {
    if ((folderFaultOf(error) ?? sqliteFolderFault(error)) === undefined) throw error
    return [{ subject: SUBJECT, state: 'skipped', text: `not checked: ${textOf(error)}` }]
  }
}

/** What the last check of the running service found. Reads none of the files. */
export function lastFileFindings({
  databaseUrl,
  dataDir,
}: Pick<Config, 'databaseUrl' | 'dataDir'>): readonly Finding[] {
  if (databaseUrl !== undefined) return []
  const last = readLastCheck(dataDir)
  if (last === undefined) {
    return [{ subject: SUBJECT, state: 'skipped', text: 'not checked yet' }]
  }
  if (last.faults.length > 0) return faultFindings(unlike(last.faults), runningAdvice())
  const text = `in order at the last check, ${new Date(last.endedMs).toISOString()}`
  return [{ subject: SUBJECT, state: 'ok', text }]
}

/**
 * Whether the SQLite files are in order, and belong together where no process is writing to them. Reads
 * all of terse.db and clicks.db, and the days that were written since the last check.
 */
function checkedFindings({
  databaseUrl,
  dataDir,
}: Pick<Config, 'databaseUrl' | 'dataDir'>): readonly Finding[] {
  if (databaseUrl !== undefined) return []
  const isOpen = isFolderOpen(dataDir)
  const examined = isOpen
    ? []
    : examineFiles(dataDir, (id, from) => countClicksAfter(dataDir, id, from)).faults
  const last = readLastCheck(dataDir)
  const checked = checkFiles(dataDir, { isFull: false, daysSinceMs: last?.startedMs ?? 0 })
  const faults = unlike([...examined, ...checked, ...(last?.faults ?? [])])
  if (faults.length === 0) {
    const text = isOpen ? 'in order' : 'in order, and from one moment'
    return [{ subject: SUBJECT, state: 'ok', text }]
  }
  return faultFindings(faults, isOpen ? runningAdvice() : filesAdvice())
}

function faultFindings(faults: readonly FileFault[], advice: string): readonly Finding[] {
  return faults.map(({ file, text }) => ({
    subject: SUBJECT,
    state: 'problem',
    text: `${file}: ${text}`,
    advice,
  }))
}

function runningAdvice(): string {
  return `The service goes on, but refuses the files at its next start. Have a backup ready before you stop it; without one, see: ${terseCommand('repair')}`
}

/** The first of those that say the same. */
function unlike(faults: readonly FileFault[]): readonly FileFault[] {
  return [...new Map(faults.map((fault) => [`${fault.file} ${fault.text}`, fault])).values()]
}

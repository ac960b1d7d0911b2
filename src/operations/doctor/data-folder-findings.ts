import { accessSync, constants, statfsSync } from 'node:fs'
import { countClicksAfter } from '../../clicks/store/index.ts'
import { checkFiles, examineFiles, isFolderOpen } from '../../data-files/index.ts'
import { DiskReserve } from '../../platform/disk/disk-reserve.ts'
import { fromStatFs } from '../../platform/disk/disk-space.ts'
import { folderFaultOf, folderFaultText } from '../../platform/disk/folder.ts'
import { terseCommand } from '../../platform/process/terse-command.ts'
import { type FileFault, filesAdvice, readLastCheck } from '../../storage/file-fault.ts'
import { sqliteFolderFault, textOf } from '../../storage/sqlite/errors.ts'
import type { Finding } from './host-findings.ts'

const MIB = 1024 * 1024
const DISK = 'disk'
const FILES = 'files'

/** Where the data of an instance lies. */
type Location = { readonly databaseUrl: string | undefined; readonly dataDir: string }

/** Reports whether the data folder is writable and how much space is free. Writes nothing. */
export async function diskFindings({
  dataDir,
  diskLowRatio,
}: {
  readonly dataDir: string
  /** The free share of the disk below which to warn, 0 to 1. */
  readonly diskLowRatio: number
}): Promise<readonly Finding[]> {
  const access = accessFinding(dataDir)
  const room = await roomFinding(dataDir, diskLowRatio)
  return access === undefined ? [room] : [access, room]
}

function accessFinding(dataDir: string): Finding | undefined {
  try {
    accessSync(dataDir, constants.W_OK | constants.X_OK)
    return undefined
  } catch (error) {
    const fault = folderFaultOf(error) ?? 'failing'
    const advice = 'Make the file system writable, and give the folder to the user of the service.'
    return { subject: DISK, state: 'problem', text: folderFaultText(fault, dataDir), advice }
  }
}

async function roomFinding(dataDir: string, lowRatio: number): Promise<Finding> {
  const { freeBytes, freeRatio, reserveNeedsBytes } = fromStatFs(statfsSync(dataDir))
  const percent = Math.floor(freeRatio * 1_000) / 10
  const text = `${Math.floor(freeBytes / MIB)} MiB free for ${dataDir} (${percent} %)`
  if (freeBytes < reserveNeedsBytes) {
    const needed = Math.ceil(reserveNeedsBytes / MIB)
    const consequence = `nothing is stored until ${needed} MiB are free, and clicks are eventually lost.`
    const isReleased = (await new DiskReserve(dataDir).bytes()) === 0
    return isReleased
      ? {
          subject: DISK,
          state: 'problem',
          text: `${text}; the service treats the disk as full`,
          advice: `Free disk space: ${consequence}`,
        }
      : {
          subject: DISK,
          state: 'problem',
          text,
          advice: `Free disk space: once the disk is full, ${consequence}`,
        }
  }
  if (freeRatio >= lowRatio) return { subject: DISK, state: 'ok', text }
  const advice =
    'Free disk space before the disk is full. TERSE_DISK_LOW_PERCENT sets the threshold of this warning.'
  return { subject: DISK, state: 'warning', text, advice }
}

/** As `checkedFindings`, or `skipped` where the folder cannot be used; the finding about the disk says why. */
export function fileFindings(location: Location): readonly Finding[] {
  try {
    return checkedFindings(location)
  } catch (error) {
    if ((folderFaultOf(error) ?? sqliteFolderFault(error)) === undefined) throw error
    return [{ subject: FILES, state: 'skipped', text: `not checked: ${textOf(error)}` }]
  }
}

/** What the last check of the running service found. Reads none of the files. */
export function lastFileFindings({ databaseUrl, dataDir }: Location): readonly Finding[] {
  if (databaseUrl !== undefined) return []
  const last = readLastCheck(dataDir)
  if (last === undefined) {
    return [{ subject: FILES, state: 'skipped', text: 'not checked yet' }]
  }
  if (last.faults.length > 0) return faultFindings(unlike(last.faults), runningAdvice())
  const text = `in order at the last check, ${new Date(last.endedMs).toISOString()}`
  return [{ subject: FILES, state: 'ok', text }]
}

/**
 * Whether the SQLite files are in order, and belong together where no process is writing to them. Reads
 * all of terse.db and clicks.db, and the days that were written since the last check.
 */
function checkedFindings({ databaseUrl, dataDir }: Location): readonly Finding[] {
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
    return [{ subject: FILES, state: 'ok', text }]
  }
  return faultFindings(faults, isOpen ? runningAdvice() : filesAdvice())
}

function faultFindings(faults: readonly FileFault[], advice: string): readonly Finding[] {
  return faults.map(({ file, text }) => ({
    subject: FILES,
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

import { accessSync, constants } from 'node:fs'
import { BackupCatalog, listMarkedBlocks, openTarget, type S3Access } from '../../backup/index.ts'
import { terseCommand } from '../../platform/process/terse-command.ts'
import { textOf } from '../../storage/sqlite/errors.ts'
import { nearestExisting, targetLabel } from './backup-place.ts'
import { type BackupRecords, recordsOfPlace } from './backup-records.ts'

/** Below the time that the dashboard grants all checks. */
const TIMEOUT_MS = 5_000

/** What is wrong with a place, and what to do about it. */
export type PlaceFault = { readonly text: string; readonly advice: string }

/**
 * Returns why the next backup cannot be stored in a place, or undefined. Changes nothing there.
 *
 * @param options.stop ends requests to a bucket early
 */
export async function findPlaceFault(
  address: string,
  s3: S3Access | undefined,
  {
    records,
    stop,
  }: { readonly records: BackupRecords | undefined; readonly stop?: AbortSignal | undefined },
): Promise<PlaceFault | undefined> {
  const label = targetLabel(address)
  try {
    const target = await openTarget(address, s3, { stop: inTimeOr(stop) })
    const catalog = new BackupCatalog(target)
    const owner = await inTime(catalog.owner(), label)
    if (target.workFolder !== undefined) {
      accessSync(nearestExisting(label), constants.R_OK | constants.W_OK | constants.X_OK)
    }
    const last = records && recordsOfPlace(records, label)?.last
    if (owner === undefined) return last && goneFault(address)
    if (owner !== records?.dataFolder) return foreignFault(address)
    const names = await inTime(catalog.names(), label)
    if (last === undefined || names.includes(last.name)) return undefined
    return {
      text: `the last backup, ${last.name}, is no longer in ${label}`,
      advice: 'Check who removes backups there. In a bucket, no object may expire by its age.',
    }
  } catch (error) {
    return {
      text: `${label} cannot be used: ${textOf(error)}`,
      advice: 'Check that it can be reached, and that the user of the service can write there.',
    }
  }
}

/** Returns how many blocks in a place are marked as damaged; undefined when that cannot be found out in time. */
export async function countDamagedBlocks(
  address: string,
  s3: S3Access | undefined,
): Promise<number | undefined> {
  try {
    const target = await openTarget(address, s3, { stop: inTimeOr() })
    return (await inTime(listMarkedBlocks(target), target.label)).size
  } catch {
    // `findPlaceFault` reports it.
    return undefined
  }
}

/** What is wrong when the backups that a folder has made in a place are not there. */
export function goneFault(address: string): PlaceFault {
  return {
    text: `the backups in ${targetLabel(address)} are gone`,
    advice: `Check that its disk is mounted. If they were removed on purpose, begin again: ${terseCommand(`backup ${address} --take-over`)}`,
  }
}

/** What is wrong when a place has the backups of another data folder. */
export function foreignFault(address: string): PlaceFault {
  return {
    text: `${targetLabel(address)} has the backups of another data folder, or of this one before it was restored`,
    advice: `Name a place of its own, or take it over: ${terseCommand(`backup ${address} --take-over`)}`,
  }
}

/** Requests that go on would keep the process from ending. */
function inTimeOr(stop?: AbortSignal): AbortSignal {
  const late = AbortSignal.timeout(TIMEOUT_MS)
  return stop === undefined ? late : AbortSignal.any([late, stop])
}

/** A folder that is mounted from another machine may never answer. */
async function inTime<T>(work: Promise<T>, label: string): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    reject(new Error(`${label} did not answer in ${TIMEOUT_MS / 1_000} s`))
  }, TIMEOUT_MS)
  try {
    return await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
  }
}

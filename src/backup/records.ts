import { randomUUID } from 'node:crypto'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { hasErrorCode } from '../platform/process/has-error-code.ts'
import type { BackupFile } from './manifest.ts'
import type { KnownDay } from './pin.ts'

const FILE_NAME = 'backups.json'
/** More places come from commands that name a new folder each time. */
const PLACES_MAX = 30

/** A finished day that a target holds, so that it need not be read again. */
export type DayRecord = KnownDay & { readonly file: BackupFile }

export type MadeBackup = { readonly name: string; readonly consistentAtMs: number }

/** The backups that a data folder has made in one place. */
export type PlaceRecords = {
  readonly last: MadeBackup
  /** The last backup that was restored and compared. */
  readonly verified?: MadeBackup
}

/** What a data folder records of its backups. */
export type BackupRecords = {
  /** Identifies this data folder: a target holds the backups of one. */
  readonly dataFolder: string
  /** By the label of the target, the place that was used last at the end. */
  readonly places?: Readonly<Record<string, PlaceRecords>>
  /** The finished days in a target, by day, such as 2026-11-22. */
  readonly days?: { readonly target: string; readonly files: Readonly<Record<string, DayRecord>> }
}

/** Reads the records of a data folder; begins new ones when there are none or they are damaged. */
export function readBackupRecords(dataDir: string): BackupRecords {
  return findBackupRecords(dataDir) ?? { dataFolder: randomUUID() }
}

/** Undefined when no backup was made, or the records are damaged. */
export function findBackupRecords(dataDir: string): BackupRecords | undefined {
  try {
    const text = readFileSync(path.join(dataDir, FILE_NAME), 'utf8')
    const records = JSON.parse(text)
    return typeof records?.dataFolder === 'string' ? records : undefined
  } catch (error) {
    if (error instanceof SyntaxError || hasErrorCode(error, 'ENOENT')) return undefined
    throw error
  }
}

export function writeBackupRecords(dataDir: string, records: BackupRecords): void {
  const file = path.join(dataDir, FILE_NAME)
  const partial = `${file}.${process.pid}`
  writeFileSync(partial, JSON.stringify(records), { mode: 0o600, flush: true })
  renameSync(partial, file)
}

/** Returns what is recorded of a place by its label. Undefined when nothing is. */
export function recordsOfPlace(
  { places = {} }: BackupRecords,
  label: string,
): PlaceRecords | undefined {
  return Object.hasOwn(places, label) ? places[label] : undefined
}

/** Returns the place in which the newest backup was made. Undefined when none was. */
export function newestPlace({ places = {} }: BackupRecords): string | undefined {
  const [newest] = Object.entries(places).toSorted(
    ([, a], [, b]) => b.last.consistentAtMs - a.last.consistentAtMs,
  )
  return newest?.[0]
}

/** Returns the records, with one place's records replaced. */
export function withPlace(
  records: BackupRecords,
  label: string,
  ofPlace: PlaceRecords,
): BackupRecords {
  const others = Object.entries(records.places ?? {}).filter(([each]) => each !== label)
  const places = [...others, [label, ofPlace] as const].slice(-PLACES_MAX)
  return { ...records, places: Object.fromEntries(places) }
}

/** Returns the label of a target, as its records name it, without opening it. */
export function targetLabel(target: string): string {
  return target.includes('://') ? target : path.resolve(target)
}

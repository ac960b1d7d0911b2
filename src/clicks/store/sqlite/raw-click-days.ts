import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { DAYS_FOLDER } from '../../../platform/database/file-fault.ts'
import { formatDay, parseDay } from '../../tally/click-day.ts'

const EXTENSION = '.db'

/** Where the raw clicks are, a file for each UTC day, so that a day is dropped by removing its file. */
export function rawClicksFolder(dataDir: string): string {
  return path.join(dataDir, DAYS_FOLDER)
}

export function rawClicksFile(folder: string, day: number): string {
  return path.join(folder, formatDay(day) + EXTENSION)
}

/** The days of which there are raw clicks, ascending. */
export function listRawDays(folder: string): number[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((name) => name.endsWith(EXTENSION))
    .map((name) => parseDay(name.slice(0, -EXTENSION.length)))
    .filter((day) => day !== undefined)
    .sort((a, b) => a - b)
}

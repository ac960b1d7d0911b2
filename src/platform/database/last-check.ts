import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { FileFault } from './file-fault.ts'

/** The result of the last check of a data folder's files. */
export type LastCheck = {
  readonly startedMs: number
  readonly endedMs: number
  /** As in `FileCheck`. */
  readonly isFull: boolean
  readonly faults: readonly FileFault[]
}

const NAME = 'file-check.json'

/** Returns undefined when no check has run, or its stored result cannot be read. */
export function readLastCheck(dataDir: string): LastCheck | undefined {
  try {
    const check = JSON.parse(readFileSync(path.join(dataDir, NAME), 'utf8'))
    return Array.isArray(check.faults) ? check : undefined
  } catch {
    return undefined
  }
}

export function writeLastCheck(dataDir: string, check: LastCheck): void {
  const file = path.join(dataDir, NAME)
  const temporaryFile = `${file}.${process.pid}`
  writeFileSync(temporaryFile, JSON.stringify(check), { mode: 0o600 })
  renameSync(temporaryFile, file)
}

import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { FileFault } from './file-fault.ts'

/** What the last check of a data folder's files has found. */
export type LastCheck = {
  readonly startedMs: number
  readonly endedMs: number
  /** As in `FileCheck`. */
  readonly isFull: boolean
  readonly faults: readonly FileFault[]
}

const NAME = 'file-check.json'

/** Undefined where there was none, or what is kept of it cannot be read. */
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
  const beside = `${file}.${process.pid}`
  writeFileSync(beside, JSON.stringify(check), { mode: 0o600 })
  renameSync(beside, file)
}

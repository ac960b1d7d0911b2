import { mkdirSync, mkdtempSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

/** Beside the code and not in the system's own place for such, which may be no disk at all. */
export const DATA_ROOT = fileURLToPath(new URL('../data/', import.meta.url))

export function createDataFolder(): string {
  mkdirSync(DATA_ROOT, { recursive: true })
  return mkdtempSync(path.join(DATA_ROOT, 'run-'))
}

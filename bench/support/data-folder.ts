import { mkdirSync, mkdtempSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../data/', import.meta.url))

/** A folder beside the code and not in the system's own for such, which may be no disk at all. */
export function createDataFolder(): string {
  mkdirSync(ROOT, { recursive: true })
  return mkdtempSync(path.join(ROOT, 'run-'))
}

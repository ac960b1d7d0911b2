import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

/** Beside the code and not in the system's temporary folder, which may be in memory. */
export const DATA_ROOT = fileURLToPath(new URL('../data/', import.meta.url))

const created: string[] = []

/** Creates a folder that is removed at the end of this process. */
export function createDataFolder(): string {
  mkdirSync(DATA_ROOT, { recursive: true })
  const folder = mkdtempSync(path.join(DATA_ROOT, 'run-'))
  created.push(folder)
  return folder
}

process.on('exit', () => {
  for (const folder of created) rmSync(folder, { recursive: true, force: true })
})

import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

/** Where Linux keeps files in memory: nothing that tests write there waits for a disk. */
const IN_MEMORY = '/dev/shm'
const TMPFS = 0x01_02_19_94
const PREFIX = 'terse-tests-'
/** A whole run has at most 1 GB at a time. */
const FREE_BYTES_MIN = 6 * 1_024 ** 3
const DAY_MS = 86_400_000

/**
 * Creates the folder in which the tests of one run keep their data: in memory if there is plenty, because the tests
 * kill processes, never the machine. Removes folders that killed runs of this user have left.
 */
export function makeTestFolder(): string {
  const parent = isRoomy(IN_MEMORY) ? IN_MEMORY : tmpdir()
  for (const name of readdirSync(parent)) {
    if (!name.startsWith(PREFIX)) continue
    const folder = path.join(parent, name)
    // A run that ends removes its own.
    const found = statSync(folder, { throwIfNoEntry: false })
    const isLeft = found?.uid === process.getuid?.() && Date.now() - (found?.mtimeMs ?? 0) > DAY_MS
    if (isLeft) rmSync(folder, { recursive: true, force: true })
  }
  const folder = mkdtempSync(path.join(parent, PREFIX))
  // PostgreSQL and some services run as other users.
  chmodSync(folder, 0o755)
  return folder
}

function isRoomy(folder: string): boolean {
  if (!existsSync(folder)) return false
  const { type, bavail, bsize } = statfsSync(folder)
  return type === TMPFS && Math.min(bavail * bsize, process.availableMemory()) >= FREE_BYTES_MIN
}

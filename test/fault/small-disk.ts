import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'

/** What can befall the place of a click journal while the service runs. */
export type JournalFault = {
  readonly name: string
  /** Called before the service starts, with the folder of all journals. */
  prepare(folder: string): void
  /** Brings the fault about. */
  strike(folder: string): void
  /** Undoes what `prepare` did outside the folder. */
  tidy(folder: string): void
}

const REMOVED: JournalFault = {
  name: 'is gone',
  prepare: () => {},
  strike: (folder) => rmSync(folder, { recursive: true }),
  tidy: () => {},
}

function smallDisk(name: string, room: string): JournalFault {
  return {
    name,
    prepare(folder) {
      mkdirSync(folder, { recursive: true })
      execFileSync('mount', ['-t', 'tmpfs', '-o', room, 'tmpfs', folder], { stdio: 'ignore' })
    },
    strike: () => {},
    tidy: (folder) => execFileSync('umount', [folder]),
  }
}

/** Has room for one page: some hundred clicks. */
const FULL = smallDisk('is on a full disk', 'size=4k')
/** Has room for no file or folder. */
const FULL_AT_START = smallDisk('was to begin on a full disk', 'nr_inodes=1')

/** The faults that this machine lets us bring about: a small disk needs the right to mount one. */
export function journalFaults(scratchFolder: string): readonly JournalFault[] {
  try {
    FULL.prepare(scratchFolder)
    FULL.tidy(scratchFolder)
    return [REMOVED, FULL, FULL_AT_START]
  } catch {
    return [REMOVED]
  }
}

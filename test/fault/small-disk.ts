import { rmSync } from 'node:fs'
import { mountTmpfs, skipWithoutMount, unmount } from '../support/tmpfs.ts'

/** A fault of the click journal's folder while the service runs. */
export type JournalFault = {
  readonly name: string
  /** Called before the service starts, with the root folder of all journals. */
  prepare(folder: string): void
  /** Causes the fault. */
  cause(folder: string): void
  /** Undoes what `prepare` did outside the folder. */
  cleanUp(folder: string): void
}

const REMOVED: JournalFault = {
  name: 'folder is removed',
  prepare: () => {},
  cause: (folder) => rmSync(folder, { recursive: true }),
  cleanUp: () => {},
}

function smallDisk(name: string, room: string): JournalFault {
  return {
    name,
    prepare: (folder) => mountTmpfs(folder, room),
    cause: () => {},
    cleanUp: unmount,
  }
}

/** Has room for one page: some hundred clicks. */
const FULL = smallDisk('is on a full disk', 'size=4k')
/** Has no room for any file or folder. */
const FULL_AT_START = smallDisk('is created on a full disk', 'nr_inodes=1')

/** All faults, each with the reason why this machine cannot cause it, or false when it can. */
export function journalFaults(): readonly { fault: JournalFault; skip: string | false }[] {
  const skip = skipWithoutMount()
  return [
    { fault: REMOVED, skip: false },
    { fault: FULL, skip },
    { fault: FULL_AT_START, skip },
  ]
}

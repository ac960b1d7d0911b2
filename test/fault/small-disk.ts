import { rmSync } from 'node:fs'
import { mountTmpfs, skipWithoutMount, unmount } from '../support/tmpfs.ts'

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
    prepare: (folder) => mountTmpfs(folder, room),
    strike: () => {},
    tidy: unmount,
  }
}

/** Has room for one page: some hundred clicks. */
const FULL = smallDisk('is on a full disk', 'size=4k')
/** Has room for no file or folder. */
const FULL_AT_START = smallDisk('was to begin on a full disk', 'nr_inodes=1')

/** Each with why it cannot be brought about on this machine, or false where it can. */
export function journalFaults(): readonly { fault: JournalFault; skip: string | false }[] {
  const skip = skipWithoutMount()
  return [
    { fault: REMOVED, skip: false },
    { fault: FULL, skip },
    { fault: FULL_AT_START, skip },
  ]
}

import { closeSync, existsSync, openSync, rmSync } from 'node:fs'
import path from 'node:path'
import {
  createJournal,
  type JournalFolder,
  listJournals,
  takeOverJournals,
} from '../../src/clicks/journal/journal-folder.ts'

/** The report that this process sends to its parent when its task is done. */
export type OwnerMessage = {
  /** Identifiers of the journals it owned. */
  readonly ids: readonly string[]
  /** Violations it has observed. */
  readonly faults: readonly string[]
}

const [root = '', task = '', turns = '0'] = process.argv.slice(2)
const ids = new Set<string>()
const faults = new Set<string>()
const held: JournalFolder[] = []

const TASKS: Readonly<Record<string, () => void>> = {
  /** Owns a journal until this process ends. */
  hold() {
    held.push(createJournal(root))
    for (const { id } of held) ids.add(id)
    setInterval(() => {}, 60_000)
  },

  /** Adopts orphans, checks that no other process owns them, and releases them. */
  contend() {
    for (let turn = 0; turn < Number(turns); turn += 1) {
      for (const journal of takeOverJournals(root)) {
        ids.add(journal.id)
        mark(journal)
        journal.release()
      }
    }
  },

  /** Creates journals and removes them, as fast as others can find them. */
  'create-and-remove'() {
    for (let turn = 0; turn < Number(turns); turn += 1) {
      const journal = createJournal(root)
      ids.add(journal.id)
      mark(journal)
      journal.remove()
    }
  },

  /** Clears the root, as a starting process does with what killed ones left. */
  clear() {
    while (listJournals(root).length > 0) {
      for (const journal of takeOverJournals(root)) {
        if (!existsSync(journal.folder)) faults.add('a journal was adopted after its removal')
        ids.add(journal.id)
        journal.remove()
      }
    }
  },
}

/** Creates a marker file, which only one process at a time can do. */
function mark({ folder, id }: JournalFolder): void {
  const file = path.join(folder, 'mark')
  try {
    closeSync(openSync(file, 'wx'))
    rmSync(file)
  } catch (error) {
    faults.add(`${id} had two owners: ${error}`)
  }
}

try {
  TASKS[task]?.()
} catch (error) {
  faults.add(`${task}: ${error}`)
}
process.send?.({ ids: [...ids], faults: [...faults] } satisfies OwnerMessage)

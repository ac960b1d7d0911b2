import { closeSync, existsSync, openSync, rmSync } from 'node:fs'
import path from 'node:path'
import {
  adoptJournals,
  createJournal,
  type JournalFolder,
  listJournals,
} from '../../src/clicks/journal/journal-folder.ts'

/** What this process tells the one that started it when its task is done. */
export type OwnerMessage = {
  /** The journals it owned. */
  readonly ids: readonly string[]
  /** What must not have happened. */
  readonly faults: readonly string[]
}

const [root = '', task = '', turns = '0'] = process.argv.slice(2)
const ids = new Set<string>()
const faults = new Set<string>()
const held: JournalFolder[] = []

const TASKS: Readonly<Record<string, () => void>> = {
  /** Keeps a journal until this process ends. */
  hold() {
    held.push(createJournal(root))
    for (const { id } of held) ids.add(id)
    setInterval(() => {}, 60_000)
  },

  /** Takes what it can get, makes sure that nobody else has it, and lets it go. */
  contend() {
    for (let turn = 0; turn < Number(turns); turn += 1) {
      for (const journal of adoptJournals(root)) {
        ids.add(journal.id)
        mark(journal)
        journal.release()
      }
    }
  },

  /** Makes journals, and removes them, as fast as others can find them. */
  'create-and-remove'() {
    for (let turn = 0; turn < Number(turns); turn += 1) {
      const journal = createJournal(root)
      ids.add(journal.id)
      mark(journal)
      journal.remove()
    }
  },

  /** Empties the root, as a starting process does with what killed ones left. */
  clear() {
    while (listJournals(root).length > 0) {
      for (const journal of adoptJournals(root)) {
        if (!existsSync(journal.folder)) faults.add('a journal was adopted after its removal')
        ids.add(journal.id)
        journal.remove()
      }
    }
  },
}

/** Leaves a mark that only one process at a time can make. */
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

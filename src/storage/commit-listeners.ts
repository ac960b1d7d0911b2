import type { Change } from '../domain/changes/change.ts'
import type { ChangeLog } from '../domain/changes/change-log.ts'

type Listener = (changes: readonly Change[]) => void

/** Who wants to know of this process's own changes, as soon as they are committed. */
export class CommitListeners {
  readonly #listeners: Listener[] = []

  add(listener: Listener): void {
    this.#listeners.push(listener)
  }

  tell(changes: readonly Change[]): void {
    if (changes.length === 0) return
    for (const listener of this.#listeners) listener(changes)
  }
}

/** The change log, with a note of what goes through it. */
export function collectChanges(log: ChangeLog): { changes: Change[]; collecting: ChangeLog } {
  const changes: Change[] = []
  const collecting: ChangeLog = {
    ...log,
    append(change, atMicros) {
      changes.push(change)
      return log.append(change, atMicros)
    },
  }
  return { changes, collecting }
}

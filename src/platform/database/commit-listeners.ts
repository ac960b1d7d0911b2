import type { Change } from '../changes/changes.ts'

type Listener = (changes: readonly Change[]) => void

/** Notifies listeners of this process's own changes as soon as they are committed. */
export class CommitListeners {
  readonly #listeners: Listener[] = []

  add(listener: Listener): void {
    this.#listeners.push(listener)
  }

  notify(changes: readonly Change[]): void {
    for (const listener of this.#listeners) listener(changes)
  }
}

const UNKNOWN_ID = '00000000-0000-7000-8000-000000000000'

/** Created and deleted ids, collected only from answers. */
export class IdLedger {
  readonly #created = new Set<string>()
  readonly #deleted = new Set<string>()

  /** Accepts an id again: a repeated request is answered with what the first one created. */
  noteCreated(id: string): void {
    this.#created.add(id)
  }

  noteDeleted(id: string): void {
    this.#deleted.add(id)
  }

  live(): string[] {
    return [...this.#created.difference(this.#deleted)]
  }

  isDeleted(id: string): boolean {
    return this.#deleted.has(id)
  }

  /** Returns an unknown id when none is left. */
  pickLive(nth: number): string {
    const live = this.live()
    return live[nth % live.length] ?? UNKNOWN_ID
  }

  pickDeleted(nth: number): string {
    return [...this.#deleted][nth % this.#deleted.size] ?? UNKNOWN_ID
  }
}

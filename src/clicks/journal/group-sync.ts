import { closeQuietly, type JournalFiles } from './journal-files.ts'

/** The files, folders and waiting visits of one round of syncs. */
type Round = {
  readonly files: ReadonlySet<number>
  readonly folders: ReadonlySet<string>
  readonly callbacks: readonly (() => void)[]
  readonly clicks: number
}

/**
 * Group commit for the journal. One round of syncs runs at a time, off the event loop; visits that arrive
 * during a round share the next one. The slower the disk, the more visits share a sync.
 *
 * A failed round is never retried. Linux marks the pages clean after a failed sync, so the next sync would
 * succeed without having written them (Rebello et al., "Can Applications Recover from fsync Failures?",
 * USENIX ATC 2020). The clicks of a failed round, and those written since it began, are doubtful, and the
 * writer continues in another file.
 */
export class GroupSync {
  readonly #sync: JournalFiles
  readonly #onFailed: (clicks: number, error: unknown) => void
  #files = new Set<number>()
  #folders = new Set<string>()
  #retired = new Set<number>()
  #callbacks: (() => void)[] = []
  #clicks = 0
  #busy = false
  #running: Promise<void> = Promise.resolve()

  /** @param onFailed called with the number of doubtful clicks before their visits are answered */
  constructor(files: JournalFiles, onFailed: (clicks: number, error: unknown) => void) {
    this.#sync = files
    this.#onFailed = onFailed
  }

  /** Records that clicks were written to a file. */
  written(fd: number, clicks: number): void {
    this.#files.add(fd)
    this.#clicks += clicks
  }

  /** Records that a folder is new or has a new file. */
  changed(folder: string): void {
    this.#folders.add(folder)
  }

  /** Calls each of `callbacks` once everything recorded so far is on disk or reported as doubtful. */
  wait(callbacks: readonly (() => void)[]): void {
    for (const done of callbacks) this.#callbacks.push(done)
    if (this.#busy) return
    this.#busy = true
    this.#running = this.#run()
  }

  /** Closes a completely written file as soon as it needs no further sync. */
  retire(fd: number): void {
    this.#retired.add(fd)
    if (!this.#busy) this.#closeRetired()
  }

  /** Resolves when no callback is waiting. */
  async idle(): Promise<void> {
    await this.#running
  }

  async #run(): Promise<void> {
    while (this.#callbacks.length > 0) {
      const round = this.#takeRound()
      let callbacks = round.callbacks
      try {
        for (const fd of round.files) await this.#sync.sync(fd)
        for (const folder of round.folders) await this.#sync.syncFolder(folder)
      } catch (error) {
        for (const folder of round.folders) this.#folders.add(folder)
        const since = this.#takeRound()
        for (const folder of since.folders) this.#folders.add(folder)
        callbacks = [...round.callbacks, ...since.callbacks]
        this.#onFailed(round.clicks + since.clicks, error)
      }
      for (const done of callbacks) done()
      this.#closeRetired()
    }
    this.#busy = false
  }

  #takeRound(): Round {
    const round = {
      files: this.#files,
      folders: this.#folders,
      callbacks: this.#callbacks,
      clicks: this.#clicks,
    }
    this.#files = new Set()
    this.#folders = new Set()
    this.#callbacks = []
    this.#clicks = 0
    return round
  }

  #closeRetired(): void {
    for (const fd of this.#retired) {
      if (this.#files.has(fd)) continue
      this.#retired.delete(fd)
      closeQuietly(this.#sync, fd)
    }
  }
}

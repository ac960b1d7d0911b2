import type { JournalFiles } from './journal-files.ts'

/** What one round of syncs covers. */
type Round = {
  readonly files: ReadonlySet<number>
  readonly folders: ReadonlySet<string>
  readonly callbacks: readonly (() => void)[]
  readonly clicks: number
}

/**
 * Lets visits wait for the disk together. One round of syncs is under way at a time, off the event
 * loop; those who come meanwhile share the next. So the slower the disk, the more share a sync.
 *
 * After a sync that failed nobody knows what is on disk: Linux takes the pages for clean, and the
 * next sync succeeds without having written them (Rebello et al., "Can Applications Recover from
 * fsync Failures?", USENIX ATC 2020). So a failed round is never tried again: the clicks of it, and
 * those written since, are in doubt, and the writer goes on in another file.
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

  /** @param onFailed told how many clicks are in doubt, before their visits are answered */
  constructor(files: JournalFiles, onFailed: (clicks: number, error: unknown) => void) {
    this.#sync = files
    this.#onFailed = onFailed
  }

  /** Notes that so many clicks were written to a file. */
  written(fd: number, clicks: number): void {
    this.#files.add(fd)
    this.#clicks += clicks
  }

  /** Notes that a folder has another file, or is new. */
  changed(folder: string): void {
    this.#folders.add(folder)
  }

  /** Calls each of `callbacks` once all that has been noted is on disk, or is known to be in doubt. */
  wait(callbacks: readonly (() => void)[]): void {
    for (const done of callbacks) this.#callbacks.push(done)
    if (this.#busy) return
    this.#busy = true
    this.#running = this.#run()
  }

  /** Closes a file to which nothing more is written, once it needs no sync any more. */
  retire(fd: number): void {
    this.#retired.add(fd)
    if (!this.#busy) this.#closeRetired()
  }

  /** Settles when nobody waits. */
  async idle(): Promise<void> {
    await this.#running
  }

  async #run(): Promise<void> {
    while (this.#callbacks.length > 0) {
      const round = this.#take()
      let callbacks = round.callbacks
      try {
        for (const fd of round.files) await this.#sync.sync(fd)
        for (const folder of round.folders) await this.#sync.syncFolder(folder)
      } catch (error) {
        for (const folder of round.folders) this.#folders.add(folder)
        const since = this.#take()
        for (const folder of since.folders) this.#folders.add(folder)
        callbacks = [...round.callbacks, ...since.callbacks]
        this.#onFailed(round.clicks + since.clicks, error)
      }
      for (const done of callbacks) done()
      this.#closeRetired()
    }
    this.#busy = false
  }

  #take(): Round {
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
      try {
        this.#sync.close(fd)
      } catch {
        // What was written is where it is; there is nothing to do about the handle.
      }
    }
  }
}

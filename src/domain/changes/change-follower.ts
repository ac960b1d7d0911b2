import type { ChangeListener } from './change-listener.ts'
import type { ChangeCursor, ChangeLog } from './change-log.ts'

/** Changes taken in at one reading; past that it is cheaper to forget everything. */
const CHANGES_MAX = 5_000

/** Keeps what a node has in memory coherent with what every process writes. */
export type ChangeFollower = {
  /** Starts to follow; settles when the place in the log is known. */
  start(): Promise<void>
  stop(): Promise<void>
  /** How long ago, in milliseconds, everything that had been changed by then was known here. */
  lagMs(): number
}

/**
 * @param options.intervalMs between two readings of the log
 * @param options.retentionMs how long the log keeps its entries; a follower that could not read it
 *   for half as long forgets everything rather than trust that it missed nothing
 */
export function changeFollower(options: {
  log: ChangeLog
  listeners: readonly ChangeListener[]
  intervalMs: number
  retentionMs: number
  onError: (error: unknown) => void
}): ChangeFollower {
  const { log, listeners } = options
  let cursor: ChangeCursor | undefined
  let timer: NodeJS.Timeout | undefined
  let reading: Promise<void> = Promise.resolve()
  let lastReadMs = performance.now()
  let failing = false
  let stopped = false

  async function read(): Promise<void> {
    try {
      const from = cursor ?? (await log.end())
      const news = await log.since(from, CHANGES_MAX)
      const gapMs = performance.now() - lastReadMs
      const missed = gapMs > options.retentionMs / 2
      for (const listener of listeners) {
        if (news.changes === undefined || missed) listener.forgetAll()
        else listener.apply(news.changes)
      }
      cursor = news.cursor
      lastReadMs = performance.now()
      failing = false
    } catch (error) {
      if (!failing) options.onError(error)
      failing = true
    }
    if (!stopped) schedule()
  }

  function schedule(): void {
    timer = setTimeout(() => {
      reading = read()
    }, options.intervalMs)
    timer.unref()
  }

  return {
    lagMs: () => performance.now() - lastReadMs,
    async start() {
      cursor = await log.end()
      lastReadMs = performance.now()
      schedule()
    },
    async stop() {
      stopped = true
      clearTimeout(timer)
      await reading
    },
  }
}

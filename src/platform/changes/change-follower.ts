import type { ChangeListener } from './change-listener.ts'
import type { ChangeCursor, ChangeLog, NewChanges } from './change-log.ts'

/** Most changes applied from one read; above that, invalidating everything is cheaper. */
const CHANGES_MAX = 5_000
/** The shortest time between two reads, however often `wake` is called. */
const WAKE_INTERVAL_MS = 20
/**
 * How much is read again after an interruption. A server that crashed may reuse the numbers of transactions
 * that were not yet on its disk: PostgreSQL flushes after at most three times `wal_writer_delay`, which is
 * 0.6 s by default.
 */
const OVERLAP_MS = 2_000

/** Keeps a node's caches coherent with the writes of all processes. */
export type ChangeFollower = {
  /**
   * Starts to follow; settles when the position in the log is known.
   *
   * @param earlier the position of an earlier process whose caches this one has loaded; then the promise
   *   settles when the changes since are applied, or when the log cannot be read
   */
  start(earlier?: EarlierPosition): Promise<void>
  /** A position from which a later process can continue; undefined until one is old enough. */
  positionForLater(): ChangeCursor | undefined
  /** Reads soon, because there may be new changes. */
  wake(): void
  stop(): Promise<void>
  /** Milliseconds since the last successful read of the log: how stale caches may be. */
  lagMs(): number
}

export type EarlierPosition = { readonly cursor: ChangeCursor; readonly lagMs: number }

type Position = { readonly cursor: ChangeCursor; readonly readMs: number }

/**
 * @param options.intervalMs between two reads of the log
 * @param options.staleMsMax how long cached data may be served while the log cannot be read
 */
export function changeFollower(options: {
  log: ChangeLog
  listeners: readonly ChangeListener[]
  intervalMs: number
  staleMsMax: number
  onError: (error: unknown) => void
}): ChangeFollower {
  const { log, listeners } = options
  let position: Position | undefined
  /** Positions that are at least the overlap apart; the first is old enough to go back to. */
  let anchors: readonly [older: Position | undefined, newer: Position | undefined] = [
    undefined,
    undefined,
  ]
  let timer: NodeJS.Timeout | undefined
  let reading: Promise<void> | undefined
  let isWakeRequested = false
  let failing = false
  let stopped = false

  function moveTo(cursor: ChangeCursor): void {
    position = { cursor, readMs: performance.now() }
    const [, newer] = anchors
    if (newer === undefined || position.readMs - newer.readMs >= OVERLAP_MS)
      anchors = [newer, position]
  }

  async function readNews(from: Position): Promise<NewChanges> {
    const news = await log.since(from.cursor, CHANGES_MAX)
    if (!news.isInterrupted) return news
    const [older] = anchors
    if (older !== undefined) return log.since(older.cursor, CHANGES_MAX)
    anchors = [undefined, undefined]
    return { ...news, changes: undefined }
  }

  async function read(from: Position): Promise<void> {
    try {
      const news = await readNews(from)
      for (const listener of listeners) {
        if (news.changes === undefined) listener.forgetAll()
        else listener.apply(news.changes)
      }
      moveTo(news.cursor)
      failing = false
    } catch (error) {
      if (!failing) options.onError(error)
      failing = true
      const isStale = lagMs() > options.staleMsMax
      for (const listener of listeners) {
        if (isStale) listener.forgetAll()
        else listener.forgetAbsences()
      }
    }
  }

  function readSoon(delayMs: number): void {
    clearTimeout(timer)
    timer = setTimeout(() => {
      if (position === undefined) return
      reading = read(position).finally(() => {
        reading = undefined
        if (stopped) return
        readSoon(isWakeRequested ? WAKE_INTERVAL_MS : options.intervalMs)
        isWakeRequested = false
      })
    }, delayMs)
    timer.unref()
  }

  function lagMs(): number {
    return position === undefined ? 0 : performance.now() - position.readMs
  }

  return {
    async start(earlier) {
      if (earlier === undefined) {
        moveTo(await log.end())
      } else {
        position = { cursor: earlier.cursor, readMs: performance.now() - earlier.lagMs }
        anchors = [position, position]
        await read(position)
      }
      readSoon(options.intervalMs)
    },
    positionForLater: () => anchors[0]?.cursor,
    wake() {
      if (stopped || isWakeRequested || position === undefined) return
      if (reading !== undefined) isWakeRequested = true
      else readSoon(Math.max(0, WAKE_INTERVAL_MS - lagMs()))
    },
    lagMs,
    async stop() {
      stopped = true
      clearTimeout(timer)
      await reading
    },
  }
}

import type { ChangeListener } from './change-listener.ts'
import type { ChangeCursor, ChangeLog, NewChanges } from './change-log.ts'

/** Changes taken in at one reading; past that it is cheaper to forget everything. */
const CHANGES_MAX = 5_000
/** However often it is told of news, it reads no more often. */
const WAKE_INTERVAL_MS = 20
/**
 * How much is read again after an interruption. A server that crashed may give the numbers of
 * transactions again that had left nothing on its disk: what PostgreSQL has not flushed yet is at most
 * three times `wal_writer_delay` old, 0.6 s where nobody has changed it.
 */
const OVERLAP_MS = 2_000

/** Keeps what a node has in memory coherent with what every process writes. */
export type ChangeFollower = {
  /**
   * Starts to follow; settles when the place in the log is known.
   *
   * @param earlier where an earlier process was whose memory this one goes on with; then what was
   *   changed since has been told, or the log cannot be read now
   */
  start(earlier?: EarlierPlace): Promise<void>
  /** A place to go on from for a later process; undefined where there is none old enough yet. */
  placeForLater(): ChangeCursor | undefined
  /** Reads at once: there may be something new. */
  wake(): void
  stop(): Promise<void>
  /** How long ago, in milliseconds, everything that had been changed by then was known here. */
  lagMs(): number
}

export type EarlierPlace = { readonly cursor: ChangeCursor; readonly lagMs: number }

type Place = { readonly cursor: ChangeCursor; readonly readMs: number }

/**
 * @param options.intervalMs between two readings of the log
 * @param options.staleMsMax for how long what is in memory may be shown while the log cannot be read
 */
export function changeFollower(options: {
  log: ChangeLog
  listeners: readonly ChangeListener[]
  intervalMs: number
  staleMsMax: number
  onError: (error: unknown) => void
}): ChangeFollower {
  const { log, listeners } = options
  let place: Place | undefined
  /** Places in the log that are at least the overlap apart; the first is old enough to go back to. */
  let anchors: readonly [older: Place | undefined, newer: Place | undefined] = [
    undefined,
    undefined,
  ]
  let timer: NodeJS.Timeout | undefined
  let reading: Promise<void> | undefined
  let isWakeAsked = false
  let failing = false
  let stopped = false

  function moveTo(cursor: ChangeCursor): void {
    place = { cursor, readMs: performance.now() }
    const [, newer] = anchors
    if (newer === undefined || place.readMs - newer.readMs >= OVERLAP_MS) anchors = [newer, place]
  }

  async function readNews(from: Place): Promise<NewChanges> {
    const news = await log.since(from.cursor, CHANGES_MAX)
    if (!news.isInterrupted) return news
    const [older] = anchors
    if (older !== undefined) return log.since(older.cursor, CHANGES_MAX)
    anchors = [undefined, undefined]
    return { ...news, changes: undefined }
  }

  async function read(from: Place): Promise<void> {
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
      if (place === undefined) return
      reading = read(place).finally(() => {
        reading = undefined
        if (stopped) return
        readSoon(isWakeAsked ? WAKE_INTERVAL_MS : options.intervalMs)
        isWakeAsked = false
      })
    }, delayMs)
    timer.unref()
  }

  function lagMs(): number {
    return place === undefined ? 0 : performance.now() - place.readMs
  }

  return {
    async start(earlier) {
      if (earlier === undefined) {
        moveTo(await log.end())
      } else {
        place = { cursor: earlier.cursor, readMs: performance.now() - earlier.lagMs }
        anchors = [place, place]
        await read(place)
      }
      readSoon(options.intervalMs)
    },
    placeForLater: () => anchors[0]?.cursor,
    wake() {
      if (stopped || isWakeAsked || place === undefined) return
      if (reading !== undefined) isWakeAsked = true
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

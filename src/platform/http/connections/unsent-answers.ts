import type { Connection } from './connection.ts'

/** A connection from which less has left in this time, while bytes waited all along, is closed. */
const DRAIN_WINDOW_MS = 30_000
const DRAIN_BYTES_MIN = 16 * 1024
/** How much of the process's bound one subscriber, or one connection of a proxy, may hold. */
const OWNER_SHARE = 1 / 4
/** A reader that waits for less time is not known to be slow. */
const JUDGED_AFTER_MS = 1_000
/** What a request that was started since the last look may have added. */
const ANSWER_BYTES_EXPECTED = 1024 * 1024
const LOOK_INTERVAL_MIN_MS = 10

/** Why a connection is closed that holds answers which its client does not read. */
export type UnsentReason = 'slow_reader' | 'unsent_of_address' | 'unsent'

/**
 * Bounds the answers that wait in this process because their clients do not read them. Past a bound the
 * slowest readers are closed first: they have the least to lose, and an attacker's are among them.
 */
export class UnsentAnswers {
  readonly #bytesMax: number
  readonly #drainWindowMs: number
  readonly #close: (connection: Connection, reason: UnsentReason) => void
  #bytes = 0
  #started = 0
  #lookedAtMs = Number.NEGATIVE_INFINITY

  /** @param options.bytesMax of the process */
  constructor(options: {
    bytesMax: number
    drainWindowMs?: number | undefined
    close: (connection: Connection, reason: UnsentReason) => void
  }) {
    this.#bytesMax = options.bytesMax
    this.#drainWindowMs = options.drainWindowMs ?? DRAIN_WINDOW_MS
    this.#close = options.close
  }

  /** As of the last look. */
  get bytes(): number {
    return this.#bytes
  }

  /** Counts a request that was started; whether those since the last look may have passed a bound. */
  shouldLook(nowMs: number): boolean {
    this.#started += 1
    return (
      this.#bytes + this.#started * ANSWER_BYTES_EXPECTED > this.#bytesMax * OWNER_SHARE &&
      nowMs - this.#lookedAtMs >= LOOK_INTERVAL_MIN_MS
    )
  }

  /** Looks at all connections, and closes those over a bound. */
  look(connections: Iterable<Connection>, nowMs: number): void {
    this.#started = 0
    this.#lookedAtMs = nowMs
    const holders: Connection[] = []
    for (const connection of connections) {
      connection.look(nowMs)
      if (connection.unsentBytes === 0) continue
      if (this.#isTooSlow(connection, nowMs)) this.#close(connection, 'slow_reader')
      else holders.push(connection)
    }
    const kept = this.#keepWithinShares(holders, nowMs)
    this.#bytes = sumOf(this.#keepWithin(kept, this.#bytesMax, 'unsent', nowMs))
  }

  #isTooSlow(connection: Connection, nowMs: number): boolean {
    if (nowMs - (connection.waitsSinceMs ?? nowMs) < this.#drainWindowMs) return false
    if (connection.sentBytes() - connection.sentBytesThen < DRAIN_BYTES_MIN) return true
    connection.startWindow(nowMs)
    return false
  }

  #keepWithinShares(holders: readonly Connection[], nowMs: number): readonly Connection[] {
    const shareMax = this.#bytesMax * OWNER_SHARE
    if (sumOf(holders) <= shareMax) return holders
    const ofOwners = Map.groupBy(holders, (connection) => connection.owner ?? connection)
    return [...ofOwners.values()].flatMap((owned) =>
      this.#keepWithin(owned, shareMax, 'unsent_of_address', nowMs),
    )
  }

  /** Closes the slowest readers until the rest hold no more than `bytesMax`; the rest. */
  #keepWithin(
    holders: readonly Connection[],
    bytesMax: number,
    reason: UnsentReason,
    nowMs: number,
  ): readonly Connection[] {
    let bytes = sumOf(holders)
    if (bytes <= bytesMax) return holders
    const slowestFirst = holders
      .map((connection) => ({ connection, speed: speedOf(connection, nowMs) }))
      .sort((a, b) => a.speed - b.speed || b.connection.unsentBytes - a.connection.unsentBytes)
    let closed = 0
    for (const { connection } of slowestFirst) {
      if (bytes <= bytesMax) break
      bytes -= connection.unsentBytes
      closed += 1
      this.#close(connection, reason)
    }
    return slowestFirst.slice(closed).map(({ connection }) => connection)
  }
}

function sumOf(connections: readonly Connection[]): number {
  return connections.reduce((sum, { unsentBytes }) => sum + unsentBytes, 0)
}

/** In bytes a millisecond. Answers that have only just begun to wait go last. */
function speedOf(connection: Connection, nowMs: number): number {
  const waitedMs = nowMs - (connection.waitsSinceMs ?? nowMs)
  if (waitedMs < JUDGED_AFTER_MS) return Number.MAX_VALUE
  return (connection.sentBytes() - connection.sentBytesThen) / waitedMs
}

import type { Connection } from './connection.ts'

/** A connection with waiting bytes that sends less than the minimum in this time is closed. */
const DRAIN_WINDOW_MS = 30_000
const DRAIN_BYTES_MIN = 16 * 1024
/** The share of the process's limit that one subscriber, or one connection of a proxy, may use. */
const OWNER_SHARE = 1 / 4
/** A shorter wait says nothing about a reader's speed. */
const JUDGED_AFTER_MS = 1_000
/** The bytes that each request started since the last check is assumed to have added. */
const ANSWER_BYTES_EXPECTED = 1024 * 1024
const CHECK_INTERVAL_MIN_MS = 10

/** Why a connection with unread answers is closed: it is slow, or the address or process is at its limit. */
export type UnsentReason = 'slow_reader' | 'unsent_of_address' | 'unsent'

/**
 * Limits the bytes of answers that this process buffers because clients do not read them. Above a limit
 * the slowest readers are closed first: they lose the least, and an attacker's are among them.
 */
export class UnsentAnswers {
  readonly #bytesMax: number
  readonly #drainWindowMs: number
  readonly #close: (connection: Connection, reason: UnsentReason) => void
  #bytes = 0
  #started = 0
  #checkedAtMs = Number.NEGATIVE_INFINITY

  /** @param options.bytesMax limit of the process */
  constructor(options: {
    bytesMax: number
    drainWindowMs?: number | undefined
    close: (connection: Connection, reason: UnsentReason) => void
  }) {
    this.#bytesMax = options.bytesMax
    this.#drainWindowMs = options.drainWindowMs ?? DRAIN_WINDOW_MS
    this.#close = options.close
  }

  /** As of the last check. */
  get bytes(): number {
    return this.#bytes
  }

  /** Counts a started request; whether those since the last check may have reached a limit. */
  shouldCheck(nowMs: number): boolean {
    this.#started += 1
    return (
      this.#bytes + this.#started * ANSWER_BYTES_EXPECTED > this.#bytesMax * OWNER_SHARE &&
      nowMs - this.#checkedAtMs >= CHECK_INTERVAL_MIN_MS
    )
  }

  /** Measures all connections, and closes those above a limit. */
  check(connections: Iterable<Connection>, nowMs: number): void {
    this.#started = 0
    this.#checkedAtMs = nowMs
    const holders: Connection[] = []
    for (const connection of connections) {
      connection.measure(nowMs)
      if (connection.unsentBytes === 0) continue
      if (this.#isTooSlow(connection, nowMs)) this.#close(connection, 'slow_reader')
      else holders.push(connection)
    }
    const kept = this.#keepWithinShares(holders, nowMs)
    this.#bytes = sumOf(this.#keepWithin(kept, this.#bytesMax, 'unsent', nowMs))
  }

  #isTooSlow(connection: Connection, nowMs: number): boolean {
    if (nowMs - (connection.windowStartedMs ?? nowMs) < this.#drainWindowMs) return false
    if (connection.sentBytes() - connection.windowSentBytes < DRAIN_BYTES_MIN) return true
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

  /** Closes the slowest readers until the rest hold at most `bytesMax`; returns the rest. */
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

/** In bytes per millisecond. Connections that have only begun to wait count as fastest. */
function speedOf(connection: Connection, nowMs: number): number {
  const waitedMs = nowMs - (connection.windowStartedMs ?? nowMs)
  if (waitedMs < JUDGED_AFTER_MS) return Number.MAX_VALUE
  return (connection.sentBytes() - connection.windowSentBytes) / waitedMs
}

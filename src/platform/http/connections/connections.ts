import type { Socket } from 'node:net'
import { Networks, subscriberOf } from '../../network/ip-address.ts'

const CHECK_INTERVAL_MS = 250

export type ConnectionBounds = {
  readonly connectionsMax: number
  /** For one IPv4 address or IPv6 /64 network. */
  readonly connectionsPerAddressMax: number
  /** Bytes of buffered answers that clients have not read. */
  readonly unsentBytesMax: number
}

/**
 * Why a connection was closed. `too_many`, `too_many_of_address`: it was refused. `made_room`: it was idle
 * and a new connection needed its place. `refused_streams`: its client opened too many HTTP/2 streams
 * that Node refused. The others as in `UnsentReason`.
 */
type ClosingReason =
  | UnsentReason
  | 'too_many'
  | 'too_many_of_address'
  | 'made_room'
  | 'refused_streams'

/**
 * Limits the connections of visitors and API clients: how many there are, in total and for one address,
 * and how many bytes of their answers this process buffers. Connections of trusted proxies, which carry
 * many clients, are never refused, and each counts as an address of its own for buffered bytes. Their idle ones give
 * way when the process can open no more.
 */
export class Connections {
  readonly #bounds: ConnectionBounds
  readonly #trustedProxies: Networks
  readonly #openMax: number
  readonly #onClose: (reason: ClosingReason) => void
  readonly #unsent: UnsentAnswers
  readonly #all = new Set<Connection>()
  readonly #bySocket = new WeakMap<Socket, Connection>()
  /** Each set in order of arrival. */
  readonly #byOwner = new Map<string, Set<Connection>>()
  readonly #closed: Record<ClosingReason, number> = {
    slow_reader: 0,
    unsent_of_address: 0,
    unsent: 0,
    too_many: 0,
    too_many_of_address: 0,
    made_room: 0,
    refused_streams: 0,
  }
  #checkTimer: NodeJS.Timeout | undefined

  /**
   * @param options.openMax how many the process can have open, those of trusted proxies included
   * @param options.onClose called for each connection that a limit closes
   */
  constructor(options: {
    bounds: ConnectionBounds
    trustedProxies?: Networks
    openMax?: number
    drainWindowMs?: number
    onClose?: (reason: ClosingReason) => void
  }) {
    this.#bounds = options.bounds
    this.#trustedProxies = options.trustedProxies ?? new Networks()
    this.#openMax = options.openMax ?? Number.POSITIVE_INFINITY
    this.#onClose = options.onClose ?? (() => {})
    this.#unsent = new UnsentAnswers({
      bytesMax: options.bounds.unsentBytesMax,
      drainWindowMs: options.drainWindowMs,
      close: (connection, reason) => this.#close(connection, reason),
    })
  }

  get count(): number {
    return this.#all.size
  }

  /** Bytes of buffered answers, as of the last check. */
  get unsentBytes(): number {
    return this.#unsent.bytes
  }

  /** How many were closed since the start, by reason. */
  get closed(): Readonly<Record<ClosingReason, number>> {
    return this.#closed
  }

  /** Registers a new connection; closes it and returns false when a limit refuses it. */
  accept(raw: Socket): boolean {
    if (this.#bySocket.has(raw)) return true
    const connection = new Connection(raw, this.#ownerOf(raw))
    const refusal = this.#refusalOf(connection)
    if (refusal !== undefined) {
      this.#close(connection, refusal)
      return false
    }
    this.#add(connection)
    raw.once('close', () => this.#remove(connection))
    return true
  }

  /** Registers the TLS connection `secured` that is carried by `raw`. */
  secure(raw: Socket | undefined, secured: Socket): void {
    const connection = raw && this.#bySocket.get(raw)
    if (connection === undefined) return
    connection.socket = secured
    this.#bySocket.set(secured, connection)
  }

  /** Sets the object that reports the HTTP state of a connection from now on. */
  describe(socket: Socket, activity: Activity): void {
    const connection = this.#bySocket.get(socket)
    if (connection !== undefined) connection.activity = activity
  }

  /** Call at the start of each request whose answer may be large. */
  noteStart(): void {
    if (this.#unsent.shouldCheck(performance.now())) this.#check()
  }

  /** Whether bytes of an answer were sent within the last `withinMs`. */
  hasMoved(socket: Socket, withinMs: number): boolean {
    const connection = this.#bySocket.get(socket)
    return connection !== undefined && performance.now() - connection.movedAtMs < withinMs
  }

  /** Whether the connection is a trusted proxy's. */
  isTrusted(socket: Socket): boolean {
    const connection = this.#bySocket.get(socket)
    return connection !== undefined && connection.owner === undefined
  }

  /** Counts a connection that the HTTP/2 server has closed. */
  noteClosed(reason: 'refused_streams'): void {
    this.#closed[reason] += 1
    this.#onClose(reason)
  }

  #ownerOf({ remoteAddress }: Socket): string | undefined {
    if (remoteAddress === undefined || this.#trustedProxies.has(remoteAddress)) return undefined
    return subscriberOf(remoteAddress)
  }

  /** Why to refuse a connection; undefined when there is room, or an idle connection was closed for it. */
  #refusalOf({ owner }: Connection): 'too_many' | 'too_many_of_address' | undefined {
    if (owner === undefined) {
      if (this.#all.size >= this.#openMax) this.#makeRoomAnywhere()
      return undefined
    }
    const { connectionsMax, connectionsPerAddressMax } = this.#bounds
    const own = this.#byOwner.get(owner)
    if (own !== undefined && own.size >= connectionsPerAddressMax && !this.#makeRoom(own)) {
      return 'too_many_of_address'
    }
    if (this.#all.size >= this.#openMax) return this.#makeRoomAnywhere() ? undefined : 'too_many'
    if (this.#all.size < connectionsMax) return undefined
    return this.#makeRoom(this.#largest()) ? undefined : 'too_many'
  }

  /** As `makeRoom`, if need be with a connection of a trusted proxy. */
  #makeRoomAnywhere(): boolean {
    return this.#makeRoom(this.#largest()) || this.#makeRoom(this.#all)
  }

  /** The connections of the owner that has the most. */
  #largest(): Iterable<Connection> {
    let largest: ReadonlySet<Connection> = new Set()
    for (const owned of this.#byOwner.values()) if (owned.size > largest.size) largest = owned
    return largest
  }

  /** Closes the oldest idle connection; false when all are busy. */
  #makeRoom(connections: Iterable<Connection>): boolean {
    for (const connection of connections) {
      if (!connection.isIdle) continue
      this.#close(connection, 'made_room')
      return true
    }
    return false
  }

  #add(connection: Connection): void {
    this.#all.add(connection)
    this.#bySocket.set(connection.raw, connection)
    this.#checkTimer ??= setInterval(() => this.#check(), CHECK_INTERVAL_MS).unref()
    if (connection.owner === undefined) return
    const owned = this.#byOwner.get(connection.owner)
    if (owned === undefined) this.#byOwner.set(connection.owner, new Set([connection]))
    else owned.add(connection)
  }

  #close(connection: Connection, reason: ClosingReason): void {
    this.#closed[reason] += 1
    this.#remove(connection)
    connection.destroy()
    this.#onClose(reason)
  }

  #remove(connection: Connection): void {
    if (!this.#all.delete(connection)) return
    const { owner } = connection
    if (owner !== undefined) {
      const owned = this.#byOwner.get(owner)
      owned?.delete(connection)
      if (owned?.size === 0) this.#byOwner.delete(owner)
    }
    if (this.#all.size > 0) return
    this.#check()
    clearInterval(this.#checkTimer)
    this.#checkTimer = undefined
  }

  #check(): void {
    this.#unsent.check(this.#all, performance.now())
  }
}

/** The current HTTP state of a connection. */
export type Activity = {
  /** Whether no request is under way. */
  readonly isIdle: boolean
  /** Bytes of answers that this process still buffers. */
  readonly unsentBytes: number
}

/** One open connection, with the state that its limits need. */
export class Connection {
  /** The TCP connection itself. */
  readonly raw: Socket
  /** The subscriber that it counts for; undefined for a trusted proxy, which carries many clients. */
  readonly owner: string | undefined
  /** The socket that carries HTTP: `raw`, or the TLS connection over it. */
  socket: Socket
  /** Undefined before the HTTP server has taken the connection. */
  activity: Activity | undefined
  /** As of the last check. */
  unsentBytes = 0
  /** When bytes began to wait, or when the current drain window began; undefined while none wait. */
  windowStartedMs: number | undefined
  /** Bytes sent before the current drain window. */
  windowSentBytes = 0
  /** When a check last found that bytes were sent. */
  movedAtMs = Number.NEGATIVE_INFINITY
  #sentBytesLast = 0

  constructor(raw: Socket, owner: string | undefined) {
    this.raw = raw
    this.owner = owner
    this.socket = raw
  }

  get isIdle(): boolean {
    return this.activity === undefined || this.activity.isIdle
  }

  /** Updates the counts of waiting and sent bytes. */
  measure(nowMs: number): void {
    this.unsentBytes = this.activity?.unsentBytes ?? 0
    // TLS encrypts an answer as soon as it is written, and buffers the encrypted copy too.
    if (this.socket !== this.raw) this.unsentBytes += handleOf(this.raw)?.writeQueueSize ?? 0
    if (this.unsentBytes === 0) {
      this.windowStartedMs = undefined
      return
    }
    const sent = this.sentBytes()
    if (sent !== this.#sentBytesLast) {
      this.#sentBytesLast = sent
      this.movedAtMs = nowMs
    }
    if (this.windowStartedMs === undefined) this.startWindow(nowMs)
  }

  startWindow(nowMs: number): void {
    this.windowStartedMs = nowMs
    this.windowSentBytes = this.sentBytes()
  }

  /**
   * Bytes that the operating system has accepted, partial writes included. Node's documented counters
   * change only when a whole write is done, which takes minutes for a megabyte to a slow reader.
   */
  sentBytes(): number {
    const handle = handleOf(this.raw)
    return handle === undefined
      ? this.raw.bytesWritten - this.raw.writableLength
      : handle.bytesWritten - handle.writeQueueSize
  }

  destroy(): void {
    this.socket.destroy()
    this.raw.destroy()
  }
}

type Handle = { readonly bytesWritten: number; readonly writeQueueSize: number }

function handleOf(socket: Socket): Handle | undefined {
  return (socket as { _handle?: Handle | null })._handle ?? undefined
}

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
type UnsentReason = 'slow_reader' | 'unsent_of_address' | 'unsent'

/**
 * Limits the bytes of answers that this process buffers because clients do not read them. Above a limit
 * the slowest readers are closed first: they lose the least, and an attacker's are among them.
 */
class UnsentAnswers {
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

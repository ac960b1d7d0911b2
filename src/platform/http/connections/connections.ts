import type { Socket } from 'node:net'
import { Networks, subscriberOf } from '../../network/ip-address.ts'
import { type Activity, Connection } from './connection.ts'
import { UnsentAnswers, type UnsentReason } from './unsent-answers.ts'

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
export type ClosingReason =
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

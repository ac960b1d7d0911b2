import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { backoffMs } from '../../platform/work/async.ts'
import { connectionOptions } from './pool.ts'
import { PrimaryClient } from './primary-client.ts'

const CHANNEL = 'terse_changes'
const CONNECT_TIMEOUT_MS = 5_000
const RETRY_BASE_MS = 500
const RETRY_CAP_MS = 30_000

/**
 * Notifies other nodes of new changes in the log, and receives their notifications (LISTEN and
 * NOTIFY). It only saves time: without it, or when a notification is lost, the change is found when
 * the log is next polled.
 */
export class Notifications {
  readonly #url: string
  readonly #runNotify: (channel: string, payload: string) => Promise<unknown>
  readonly #senderId = randomUUID()
  readonly #listeners: (() => void)[] = []
  #client: pg.Client | undefined
  #failures = 0
  #retry: NodeJS.Timeout | undefined
  #sending = false
  #isSendRequested = false
  #closed = false

  /** @param options.send runs `pg_notify` over any connection */
  constructor(options: {
    url: string
    send: (channel: string, payload: string) => Promise<unknown>
  }) {
    this.#url = options.url
    this.#runNotify = options.send
  }

  onRemoteChange(listener: () => void): void {
    this.#listeners.push(listener)
    if (this.#client === undefined) void this.#listen()
  }

  /**
   * Notifies the other nodes. Call it after a commit and outside of its transaction: a transaction
   * that notifies blocks the commits of others.
   */
  async send(): Promise<void> {
    this.#isSendRequested = true
    if (this.#sending) return
    this.#sending = true
    while (this.#isSendRequested) {
      this.#isSendRequested = false
      // A failed notification is harmless: other nodes poll the log.
      await this.#runNotify(CHANNEL, this.#senderId).catch(() => {})
    }
    this.#sending = false
  }

  /** Closes the connection and opens a new one. */
  renew(): void {
    this.#client?.connection.stream.destroy()
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#retry)
    this.renew()
  }

  async #listen(): Promise<void> {
    const client = new PrimaryClient({
      ...connectionOptions(this.#url),
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: CONNECT_TIMEOUT_MS,
    })
    this.#client = client
    client.on('end', () => this.#scheduleListen())
    client.on('notification', ({ payload }) => {
      if (payload !== this.#senderId) this.#notifyListeners()
    })
    try {
      await client.connect()
      await client.query(`listen ${CHANNEL}`)
      this.#failures = 0
      // Notifications sent while disconnected were lost.
      this.#notifyListeners()
    } catch {
      client.connection.stream.destroy()
      this.#scheduleListen()
    }
  }

  #scheduleListen(): void {
    if (this.#closed) return
    clearTimeout(this.#retry)
    this.#failures += 1
    const wait = backoffMs(this.#failures, RETRY_BASE_MS, RETRY_CAP_MS, Math.random())
    this.#retry = setTimeout(() => this.#listen(), RETRY_BASE_MS + wait)
    this.#retry.unref()
  }

  #notifyListeners(): void {
    for (const listener of this.#listeners) listener()
  }
}

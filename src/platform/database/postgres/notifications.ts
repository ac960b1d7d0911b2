import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { backoffMs } from '../../work/backoff.ts'
import { connectionOptions } from './pool.ts'

const CHANNEL = 'terse_changes'
const CONNECT_TIMEOUT_MS = 5_000
const RETRY_BASE_MS = 500
const RETRY_CAP_MS = 30_000

/**
 * Tells other nodes that there is something new in the change log, and hears it from them (LISTEN and
 * NOTIFY). Nothing rests on it: an engine or a pooler without them, or a notification that is lost,
 * costs only the time until the next reading.
 */
export class Notifications {
  readonly #url: string
  readonly #send: (channel: string, payload: string) => Promise<unknown>
  readonly #own = randomUUID()
  readonly #listeners: (() => void)[] = []
  #client: pg.Client | undefined
  #failures = 0
  #retry: NodeJS.Timeout | undefined
  #sending = false
  #isSendAsked = false
  #closed = false

  /** @param options.send runs `pg_notify` over any connection */
  constructor(options: {
    url: string
    send: (channel: string, payload: string) => Promise<unknown>
  }) {
    this.#url = options.url
    this.#send = options.send
  }

  onNews(listener: () => void): void {
    this.#listeners.push(listener)
    if (this.#client === undefined) void this.#listen()
  }

  /** After a commit, and outside of its transaction: one that notifies makes others' commits wait. */
  async tell(): Promise<void> {
    this.#isSendAsked = true
    if (this.#sending) return
    this.#sending = true
    while (this.#isSendAsked) {
      this.#isSendAsked = false
      // The next reading of the log finds what this does not tell of.
      await this.#send(CHANNEL, this.#own).catch(() => {})
    }
    this.#sending = false
  }

  /** Gives the connection up for a new one. */
  renew(): void {
    this.#client?.connection.stream.destroy()
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#retry)
    this.renew()
  }

  async #listen(): Promise<void> {
    const client = new pg.Client({
      ...connectionOptions(this.#url),
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: CONNECT_TIMEOUT_MS,
    })
    this.#client = client
    client.on('error', () => {})
    client.on('end', () => this.#listenLater())
    client.on('notification', ({ payload }) => {
      if (payload !== this.#own) this.#hear()
    })
    try {
      await client.connect()
      await client.query(`listen ${CHANNEL}`)
      this.#failures = 0
      // What was told meanwhile was not heard.
      this.#hear()
    } catch {
      client.connection.stream.destroy()
      this.#listenLater()
    }
  }

  #listenLater(): void {
    if (this.#closed) return
    clearTimeout(this.#retry)
    this.#failures += 1
    const wait = backoffMs(this.#failures, RETRY_BASE_MS, RETRY_CAP_MS, Math.random())
    this.#retry = setTimeout(() => this.#listen(), RETRY_BASE_MS + wait)
    this.#retry.unref()
  }

  #hear(): void {
    for (const listener of this.#listeners) listener()
  }
}

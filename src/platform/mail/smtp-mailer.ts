import { setTimeout as sleep } from 'node:timers/promises'
import type { Mail, Mailer } from './mailer.ts'

const CONNECTION_MS_MAX = 10_000
/** Without any answer of the server. */
const SILENCE_MS_MAX = 20_000
const AT_ONCE_MAX = 2
const WAITING_MAX = 500
/** Before each further attempt, where the server is down or refuses a message for the moment. */
const RETRY_DELAYS_MS = [5_000, 60_000]
const STOP_MS_MAX = 3_000

type Log = {
  warn(fields: object, message: string): void
  debug(message: string): void
}

type Transport = { sendMail(message: object): Promise<unknown> }

/** Sends through an SMTP server, two messages at a time. Messages that wait are lost when the process ends. */
export class SmtpMailer implements Mailer {
  readonly #options: { readonly url: string; readonly from: string; readonly log: Log }
  readonly #retryDelaysMs: readonly number[]
  readonly #waiting: Mail[] = []
  readonly #underWay = new Set<Promise<void>>()
  readonly #stopping = new AbortController()
  #transport: Promise<Transport> | undefined

  /**
   * @param options.url `smtp://` or `smtps://`, with a user and password where the server needs them
   * @param options.from the sender
   * @param options.retryDelaysMs for tests
   */
  constructor(options: {
    url: string
    from: string
    log: Log
    retryDelaysMs?: readonly number[]
  }) {
    this.#options = options
    this.#retryDelaysMs = options.retryDelaysMs ?? RETRY_DELAYS_MS
  }

  send(mail: Mail): void {
    if (this.#waiting.length >= WAITING_MAX || this.#stopping.signal.aborted) {
      this.#options.log.warn({ waiting: this.#waiting.length }, 'mail refused')
      return
    }
    this.#waiting.push(mail)
    this.#startNext()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    const given = this.#waiting.splice(0).length
    if (given > 0) this.#options.log.warn({ waiting: given }, 'mail refused')
    await Promise.race([Promise.all(this.#underWay), sleep(STOP_MS_MAX, undefined, { ref: false })])
  }

  #startNext(): void {
    if (this.#underWay.size >= AT_ONCE_MAX) return
    const mail = this.#waiting.shift()
    if (mail === undefined) return
    const work = this.#deliver(mail).finally(() => {
      this.#underWay.delete(work)
      this.#startNext()
    })
    this.#underWay.add(work)
  }

  async #deliver({ to, ...content }: Mail): Promise<void> {
    const { from, log } = this.#options
    for (const delayMs of [...this.#retryDelaysMs, undefined]) {
      try {
        const transport = await this.#open()
        await transport.sendMail({ from, to: { name: '', address: to }, ...content })
        log.debug('mail sent')
        return
      } catch (error) {
        const isLast = delayMs === undefined || isPermanent(error)
        // Messages of the server may contain the address: only its codes are logged.
        log.warn({ ...codesOf(error), isLast }, 'mail failed')
        if (isLast || !(await this.#pause(delayMs))) return
      }
    }
  }

  /** Returns false when the mailer stops meanwhile. */
  async #pause(ms: number): Promise<boolean> {
    try {
      await sleep(ms, undefined, { signal: this.#stopping.signal, ref: false })
      return true
    } catch {
      return false
    }
  }

  #open(): Promise<Transport> {
    this.#transport ??= import('nodemailer').then(({ createTransport }) => {
      const { url } = this.#options
      const { username, hostname } = new URL(url)
      return createTransport({
        url,
        // An attacker on the path who removes the server's offer of encryption would read the password otherwise.
        requireTLS: username !== '' && !isLoopback(hostname),
        connectionTimeout: CONNECTION_MS_MAX,
        greetingTimeout: CONNECTION_MS_MAX,
        dnsTimeout: CONNECTION_MS_MAX,
        socketTimeout: SILENCE_MS_MAX,
        disableFileAccess: true,
        disableUrlAccess: true,
      })
    })
    return this.#transport
  }
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.')
}

type MailError = { readonly code?: unknown; readonly responseCode?: unknown }

/** Whether the server will refuse the message the next time too (RFC 5321, section 4.2.1). */
function isPermanent(error: unknown): boolean {
  const { responseCode } = error as MailError
  return typeof responseCode === 'number' && responseCode >= 500
}

function codesOf(error: unknown): { code: unknown; responseCode: unknown } {
  const { code, responseCode } = error as MailError
  return { code, responseCode }
}

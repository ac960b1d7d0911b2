import type { Mail } from './mailer.ts'

const CONNECTION_MS_MAX = 10_000
/** Without any answer of the server. */
const SILENCE_MS_MAX = 20_000

/** Why an attempt failed. */
export type SmtpFailure = {
  /** Whether the server will refuse the message the next time too (RFC 5321, section 4.2.1). */
  readonly isPermanent: boolean
  /** For the log: codes alone, since messages of the server may contain the address. */
  readonly fields: { readonly code: unknown; readonly responseCode: unknown }
}

type Transport = { sendMail(message: object): Promise<unknown> }

/** Gives single messages to an SMTP server, each over a connection of its own. */
export class SmtpTransport {
  readonly #options: { readonly url: string; readonly from: string }
  #transport: Promise<Transport> | undefined

  constructor(options: { url: string; from: string }) {
    this.#options = options
  }

  /** Returns undefined when the server has accepted the message. */
  async send({ to, ...content }: Mail): Promise<SmtpFailure | undefined> {
    try {
      const transport = await this.#open()
      await transport.sendMail({
        from: this.#options.from,
        to: { name: '', address: to },
        ...content,
      })
      return undefined
    } catch (error) {
      const { code, responseCode } = error as { code?: unknown; responseCode?: unknown }
      const isPermanent = typeof responseCode === 'number' && responseCode >= 500
      return { isPermanent, fields: { code, responseCode } }
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

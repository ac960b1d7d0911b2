import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'

export type Received = { readonly to: readonly string[]; readonly text: string }

export type Mailbox = {
  readonly url: string
  /** What was accepted, oldest first. */
  readonly received: readonly Received[]
  /** The address of each attempt, also of those that were not accepted. */
  readonly attempts: readonly string[]
  stop(): Promise<void>
}

/**
 * A real SMTP server that keeps what it receives, decoded as far as tests read it.
 *
 * @param statusOf the status for a recipient, such as 451; undefined to accept it
 */
export async function startMailbox(
  statusOf: (address: string) => number | undefined = () => undefined,
): Promise<Mailbox> {
  const received: Received[] = []
  const attempts: string[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onRcptTo({ address }, _session, callback) {
      attempts.push(address)
      const responseCode = statusOf(address)
      if (responseCode === undefined) callback()
      else callback(Object.assign(new Error('not now'), { responseCode }))
    },
    onData(stream, session, callback) {
      stream.toArray().then((chunks) => {
        const raw = Buffer.concat(chunks).toString()
        const text = raw
          .replaceAll('=\r\n', '')
          .replaceAll(/=([0-9A-F]{2})/g, (_all, hex) =>
            String.fromCharCode(Number.parseInt(hex, 16)),
          )
        received.push({ to: session.envelope.rcptTo.map(({ address }) => address), text })
        callback()
      }, callback)
    },
  })
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  const { port } = server.server.address() as AddressInfo
  return {
    url: `smtp://127.0.0.1:${port}`,
    received,
    attempts,
    stop: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}

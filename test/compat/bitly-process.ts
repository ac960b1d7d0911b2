import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { createServer } from 'node:tls'
import { BitlyClient } from 'bitly'

/** What the process is started with, as JSON. */
export type BitlySetting = {
  /** The file of a Unix socket that leads to the service: the network of this process has no way there. */
  readonly socket: string
  readonly certificateFile: string
  readonly keyFile: string
}

/** A call of npm `bitly` with a token, and the config of its client. */
export type BitlyCall = {
  readonly token: string
  readonly config?: object
  readonly method: string
  readonly args: readonly unknown[]
}

export type BitlyOutcome = { readonly result?: unknown; readonly error?: unknown }

const { socket, certificateFile, keyFile } = JSON.parse(process.argv[2] ?? '') as BitlySetting

// npm `bitly` speaks HTTPS on port 443 and no other.
const server = createServer(
  { cert: readFileSync(certificateFile), key: readFileSync(keyFile) },
  (client) => {
    const service = connect(socket)
    client.on('error', () => service.destroy()).pipe(service)
    service.on('error', () => client.destroy()).pipe(client)
  },
)
server.listen(443, '127.0.0.1', () => process.send?.('ready'))

process.on('message', async ({ token, config, method, args }: BitlyCall) => {
  const client = new BitlyClient(token, { apiUrl: 'localhost', ...config })
  const methods = client as unknown as Record<string, (...all: readonly unknown[]) => unknown>
  try {
    process.send?.({ result: await methods[method]?.(...args) } satisfies BitlyOutcome)
  } catch (error) {
    const shown = error instanceof Error ? error.message : error
    process.send?.({ error: shown } satisfies BitlyOutcome)
  }
})
process.on('disconnect', () => process.exit())

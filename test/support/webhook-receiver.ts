import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { eventually } from './eventually.ts'

/** A call that a receiver got. */
export type ReceivedCall = {
  readonly id: string
  readonly type: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read what they expect
  readonly data: any
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** An endpoint, which answers 204 unless told otherwise. */
export type WebhookReceiver = {
  readonly url: string
  readonly calls: ReceivedCall[]
  /** What the next calls get, by the number of the call; undefined for 204. */
  answer: (
    call: ReceivedCall,
  ) => { status: number; headers?: Record<string, string>; body?: string } | undefined
  /** Waits for calls that meet a condition, and returns them. */
  until(count: number, matches?: (call: ReceivedCall) => boolean): Promise<ReceivedCall[]>
  close(): Promise<void>
}

/** @param at where it listens; by default at a free port of 127.0.0.1 */
export async function startReceiver(
  at: { readonly host: string; readonly port: number } = { host: '127.0.0.1', port: 0 },
): Promise<WebhookReceiver> {
  const calls: ReceivedCall[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks).toString()
    const { type, data } = JSON.parse(body)
    const { headers } = request
    const call = { id: String(headers['webhook-id']), type, data, headers, body }
    calls.push(call)
    const { status, headers: sent, body: text } = receiver.answer(call) ?? { status: 204 }
    response.writeHead(status, sent).end(text)
  })
  server.listen(at.port, at.host)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const receiver: WebhookReceiver = {
    url: `http://${at.host}:${port}/hook`,
    calls,
    answer: () => undefined,
    until: (count, matches = () => true) =>
      eventually(async () => {
        const found = calls.filter(matches)
        if (found.length < count) throw new Error(`${found.length} of ${count} calls came`)
        return found
      }),
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return receiver
}

/** Checks a call as receivers do, with the library of Standard Webhooks; returns its body. */
export function verify(secret: string, { body, headers }: ReceivedCall): unknown {
  return new Webhook(secret).verify(body, headers as Record<string, string>)
}

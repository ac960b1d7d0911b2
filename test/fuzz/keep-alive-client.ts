import { Agent, type IncomingHttpHeaders, request } from 'node:http'

export type SentRequest = {
  readonly method: string
  /** Path and query as sent. */
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | undefined
}

export type ReceivedAnswer = {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** Far more than an answer takes on a busy machine. */
const ANSWER_MS_MAX = 60_000

/** Sends requests over kept-alive connections, and fails a request without an answer within a minute. */
export class KeepAliveClient {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 32 })
  readonly #port: number

  constructor(port: number) {
    this.#port = port
  }

  send({ method, target, headers, body }: SentRequest): Promise<ReceivedAnswer> {
    return new Promise((resolve, reject) => {
      const outgoing = request(
        {
          host: '127.0.0.1',
          port: this.#port,
          agent: this.#agent,
          method,
          path: target,
          headers: body === undefined ? headers : { ...headers, 'content-length': body.length },
          timeout: ANSWER_MS_MAX,
        },
        (response) => {
          const chunks: Buffer[] = []
          response.on('data', (chunk: Buffer) => chunks.push(chunk))
          response.on('error', reject)
          response.on('end', () =>
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              body: Buffer.concat(chunks),
            }),
          )
        },
      )
      outgoing.on('timeout', () => outgoing.destroy(new Error('no answer within a minute')))
      outgoing.on('error', reject)
      outgoing.end(body)
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}

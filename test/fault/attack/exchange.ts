import { type Agent, type RequestOptions, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { BROWSER } from '../../support/visit.ts'

export type ExchangeOptions = {
  readonly port: number
  readonly path: string
  readonly host: string
  /** The source address of the request: any of 127.0.0.0/8. */
  readonly from: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly agent?: Agent
}

const ANSWER_MS_MAX = 30_000

/** Sends a request and reads the whole answer. Returns the status, or why there was none. */
export function exchange(options: ExchangeOptions): Promise<number | string> {
  const { port, path, host, from, method = 'GET', headers, body, agent } = options
  const requestOptions: RequestOptions = {
    host: '127.0.0.1',
    localAddress: from,
    port,
    path,
    method,
    agent: agent ?? false,
    headers: { host, 'user-agent': BROWSER, ...headers },
    timeout: ANSWER_MS_MAX,
  }
  return new Promise((resolve) => {
    const outgoing = request(requestOptions, (response) => {
      response.on('error', () => resolve('cut off'))
      response.on('close', () =>
        resolve(response.complete ? (response.statusCode ?? 0) : 'cut off'),
      )
      response.resume()
    })
    outgoing.on('timeout', () => outgoing.destroy())
    outgoing.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'failed'))
    outgoing.end(body)
  })
}

/** Opens a connection whose errors are expected, since the service may close it at any time. */
export function openSocket(port: number, from: string): Socket {
  const socket = connect({ host: '127.0.0.1', localAddress: from, port, noDelay: true })
  socket.on('error', () => {})
  return socket
}

import { once } from 'node:events'
import { connect } from 'node:net'

export type LoadResult = { readonly seconds: number; readonly latenciesMs: readonly number[] }

/**
 * Sends `count` requests over keep-alive connections, each with one request under way at a time, and
 * makes sure that every one gets the expected status. It reads of an answer no more than it must, so
 * that the load costs less than what it measures.
 *
 * @param options.request the bytes of the request with this number
 */
export async function runLoad(options: {
  port: number
  connections: number
  count: number
  status: number
  request: (number: number) => string
}): Promise<LoadResult> {
  const latenciesMs: number[] = []
  let sent = 0

  async function drive(): Promise<void> {
    const socket = connect({ port: options.port, host: '127.0.0.1', noDelay: true })
    socket.setEncoding('latin1')
    await once(socket, 'connect')
    await new Promise<void>((resolve, reject) => {
      let received = ''
      let sentAtMs = 0

      function sendNext(): void {
        if (sent === options.count) {
          socket.destroy()
          resolve()
          return
        }
        sentAtMs = performance.now()
        socket.write(options.request(sent), 'latin1')
        sent += 1
      }

      socket.on('data', (text) => {
        received += text
        const length = answerLength(received)
        if (length === undefined || received.length < length) return
        latenciesMs.push(performance.now() - sentAtMs)
        if (!received.startsWith(`HTTP/1.1 ${options.status} `)) {
          socket.destroy(new Error(`expected ${options.status}, got: ${received}`))
          return
        }
        received = ''
        sendNext()
      })
      socket.on('error', reject)
      socket.on('end', () => reject(new Error('the server closed a connection')))
      sendNext()
    })
  }

  const startedMs = performance.now()
  await Promise.all(Array.from({ length: options.connections }, drive))
  return { seconds: (performance.now() - startedMs) / 1_000, latenciesMs }
}

/** Undefined while the head has not come whole. */
function answerLength(received: string): number | undefined {
  const headEnd = received.indexOf('\r\n\r\n')
  if (headEnd === -1) return undefined
  const length = /\r\ncontent-length: (\d+)/i.exec(received.slice(0, headEnd))
  if (length === null) throw new Error(`an answer without a length: ${received}`)
  return headEnd + 4 + Number(length[1])
}

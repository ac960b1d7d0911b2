import { once } from 'node:events'
import { connect } from 'node:net'

/** A keep-alive connection with one request at a time. */
export type Connection = {
  /**
   * Sends a request and settles when its answer has arrived completely.
   *
   * @throws when the answer has another status, or the server closes the connection
   */
  ask(request: string): Promise<void>
  close(): void
}

/**
 * Parses only as much of an answer as necessary, so that the load costs less than what it measures.
 */
export async function openConnection(port: number, status: number): Promise<Connection> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  socket.setEncoding('latin1')
  await once(socket, 'connect')
  const expected = `HTTP/1.1 ${status} `
  let received = ''
  let answered: () => void = () => undefined
  let failed: (error: Error) => void = () => undefined

  socket.on('data', (text) => {
    received += text
    const length = answerLength(received)
    if (length === undefined || received.length < length) return
    if (!received.startsWith(expected)) {
      socket.destroy(new Error(`expected ${status}, got: ${received}`))
      return
    }
    received = ''
    answered()
  })
  socket.on('error', (error) => failed(error))
  socket.on('end', () => failed(new Error('the server closed a connection')))

  return {
    ask(request) {
      return new Promise((resolve, reject) => {
        answered = resolve
        failed = reject
        socket.write(request, 'latin1')
      })
    },
    close: () => socket.destroy(),
  }
}

/** Undefined while the head is incomplete. */
function answerLength(received: string): number | undefined {
  const headEnd = received.indexOf('\r\n\r\n')
  if (headEnd === -1) return undefined
  const length = /\r\ncontent-length: (\d+)/i.exec(received.slice(0, headEnd))
  if (length === null) throw new Error(`an answer without a length: ${received}`)
  return headEnd + 4 + Number(length[1])
}

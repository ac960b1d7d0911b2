import { EventEmitter, once } from 'node:events'
import { connect, type Socket } from 'node:net'

export type RawAnswer = {
  readonly status: number
  /** Names in lower case, in the order received. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: string
}

/**
 * A connection on which a test sends any bytes. Bytes are Latin-1 characters, in both directions.
 */
export class RawConnection {
  readonly #socket: Socket
  readonly #changes = new EventEmitter()
  #received = ''
  #closed = false

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.setEncoding('latin1')
    socket.on('data', (text: string) => {
      this.#received += text
      this.#changes.emit('change')
    })
    socket.on('close', () => {
      this.#closed = true
      this.#changes.emit('change')
    })
    // A server may reset a connection on which it has rejected something.
    socket.on('error', () => {})
  }

  static async open(port: number): Promise<RawConnection> {
    const socket = connect({ host: '127.0.0.1', port, noDelay: true })
    await once(socket, 'connect')
    return new RawConnection(socket)
  }

  get isClosed(): boolean {
    return this.#closed
  }

  write(bytes: string): void {
    if (this.#socket.writable) this.#socket.write(bytes, 'latin1')
  }

  destroy(): void {
    this.#socket.destroy()
  }

  /**
   * Returns all answers until the server closes the connection. Throws when anything else was
   * received.
   */
  async answersUntilClosed(withinMs: number): Promise<RawAnswer[]> {
    const signal = AbortSignal.timeout(withinMs)
    while (!this.#closed) await once(this.#changes, 'change', { signal })
    const answers: RawAnswer[] = []
    for (let taken = this.#take(); taken !== undefined; taken = this.#take()) answers.push(taken)
    if (this.#received !== '') {
      throw new Error(`this is no HTTP: ${JSON.stringify(this.#received.slice(0, 500))}`)
    }
    return answers
  }

  /**
   * Returns the next answer, or undefined when the server closes the connection before it is
   * complete.
   */
  async nextAnswer(withinMs: number): Promise<RawAnswer | undefined> {
    const signal = AbortSignal.timeout(withinMs)
    for (;;) {
      const answer = this.#take()
      if (answer !== undefined || this.#closed) return answer
      await once(this.#changes, 'change', { signal })
    }
  }

  #take(): RawAnswer | undefined {
    const parsed = parseAnswer(this.#received)
    if (parsed === undefined) return undefined
    this.#received = this.#received.slice(parsed.length)
    return parsed.answer
  }
}

export function headerOf(answer: RawAnswer, name: string): string | undefined {
  return answer.headers.find((header) => header[0] === name)?.[1]
}

const CHUNKED = /^((?:[0-9a-f]+\r\n.*?\r\n)*?)0\r\n\r\n/s
const CHUNK = /[0-9a-f]+\r\n(.*?)\r\n/gs

/** Parses the first answer in a text, and returns its length; undefined while it is incomplete. */
function parseAnswer(text: string): { answer: RawAnswer; length: number } | undefined {
  const headEnd = text.indexOf('\r\n\r\n')
  const [statusLine = '', ...lines] = text.slice(0, headEnd).split('\r\n')
  const [, digits] = /^HTTP\/1\.1 (\d{3}) /.exec(statusLine) ?? []
  if (headEnd === -1 || digits === undefined) return undefined
  const status = Number(digits)
  const headers = lines.map((line) => {
    const [, name = '', value = ''] = /^([\w-]+): ?([^\r\n]*)$/.exec(line) ?? []
    return [name.toLowerCase(), value] as const
  })
  const headerValue = (wanted: string) => headers.find(([name]) => name === wanted)?.[1]
  const bodyStart = headEnd + 4
  if (headerValue('transfer-encoding') === 'chunked') {
    const [whole, chunks] = CHUNKED.exec(text.slice(bodyStart)) ?? []
    if (whole === undefined) return undefined
    const body = chunks?.replace(CHUNK, '$1') ?? ''
    return { answer: { status, headers, body }, length: bodyStart + whole.length }
  }
  const length = bodyStart + Number(headerValue('content-length') ?? 0)
  if (text.length < length) return undefined
  return { answer: { status, headers, body: text.slice(bodyStart, length) }, length }
}

import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer, type Socket } from 'node:net'
import packet from 'dns-packet'

export type DnsQuestion = {
  readonly name: string
  readonly type: string
  readonly transport: 'udp' | 'tcp'
}

/** A response of the responder: nothing, raw bytes, or an answer. */
export type DnsReply =
  | 'silence'
  | Buffer
  | {
      /** The response code; NOERROR is 0. */
      readonly rcode?: number
      readonly truncated?: boolean
      readonly answers?: packet.Answer[]
    }

export const SERVFAIL = 2
export const NXDOMAIN = 3

/** A DNS server over UDP and TCP that sends the responses that a test sets, valid or not. */
export type DnsResponder = {
  readonly address: string
  /** The questions received so far. */
  readonly asked: readonly DnsQuestion[]
  stop(): Promise<void>
}

export async function startDnsResponder(
  reply: (question: DnsQuestion) => DnsReply,
): Promise<DnsResponder> {
  const asked: DnsQuestion[] = []

  function answer(message: Buffer, transport: DnsQuestion['transport']): Buffer | undefined {
    const query = packet.decode(message)
    const [first] = query.questions ?? []
    if (first === undefined) return undefined
    const question: DnsQuestion = { name: first.name, type: first.type, transport }
    asked.push(question)
    const decided = reply(question)
    if (decided === 'silence') return undefined
    if (Buffer.isBuffer(decided)) return decided
    const { rcode = 0, truncated = false, answers = [] } = decided
    return packet.encode({
      type: 'response',
      id: query.id ?? 0,
      flags: packet.RECURSION_AVAILABLE | (truncated ? packet.TRUNCATED_RESPONSE : 0) | rcode,
      questions: [first],
      answers,
    })
  }

  const tcp = createServer((socket) => {
    let received = Buffer.alloc(0)
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => socket.destroy())
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk])
      while (received.length >= 2 && received.length >= 2 + received.readUInt16BE()) {
        const end = 2 + received.readUInt16BE()
        const response = answer(received.subarray(2, end), 'tcp')
        received = received.subarray(end)
        if (response === undefined) continue
        const length = Buffer.alloc(2)
        length.writeUInt16BE(response.length)
        socket.write(Buffer.concat([length, response]))
      }
    })
  })
  const sockets = new Set<Socket>()
  await once(tcp.listen(0, '127.0.0.1'), 'listening')
  const { port } = tcp.address() as AddressInfo
  const udp = createSocket('udp4')
  udp.on('message', (message, from) => {
    const response = answer(message, 'udp')
    if (response !== undefined) udp.send(response, from.port, from.address)
  })
  udp.bind(port, '127.0.0.1')
  await once(udp, 'listening')

  return {
    address: `127.0.0.1:${port}`,
    asked,
    async stop() {
      for (const socket of sockets) socket.destroy()
      tcp.close()
      udp.close()
      await Promise.all([once(tcp, 'close'), once(udp, 'close')])
    },
  }
}

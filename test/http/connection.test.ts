import assert from 'node:assert/strict'
import { on, once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { describe, test } from 'node:test'
import { createServer as createTlsServer, type TLSSocket } from 'node:tls'
import { Connection } from '../../src/platform/http/connections/connections.ts'
import { eventually } from '../support/eventually.ts'
import { handshake } from '../support/https.ts'
import { createTestAuthority } from '../support/test-authority.ts'

const HOST = 'go.acme.test'
/** More than the system buffers for one connection on loopback. */
const BODY = Buffer.alloc(32 * 1024 * 1024, 'a')

describe('Connection', () => {
  /** Asserts that sentBytes grows during a single large write. */
  async function expectProgress(raw: Socket, socket: Socket, client: Socket): Promise<void> {
    const connection = new Connection(raw, '127.0.0.1')
    connection.socket = socket
    connection.activity = { isIdle: false, unsentBytes: BODY.length }
    client.pause()
    socket.write(BODY)
    await eventually(async () => assert.ok(connection.sentBytes() > 0))
    const sentBefore = connection.sentBytes()
    // A client must read much before the system accepts more from the process.
    for await (const _ of on(client.resume(), 'data')) {
      if (connection.sentBytes() > sentBefore) break
    }
    client.pause()
    // Node’s documented counters do not show this progress.
    assert.equal(socket.writableLength, BODY.length)
    connection.measure(performance.now())
    assert.ok(connection.unsentBytes >= BODY.length)
    client.destroy()
    socket.destroy()
  }

  test('measures how much of a large write has left over plain TCP', async (t) => {
    const server = createServer().listen(0, '127.0.0.1')
    t.after(() => server.close())
    await once(server, 'listening')
    const accepted: Promise<Socket[]> = once(server, 'connection')
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
    const [raw] = await accepted
    assert.ok(raw)
    raw.on('error', () => {})
    await expectProgress(raw, raw, client)
  })

  test('measures it over TLS, encryption overhead included', async (t) => {
    const { chainPem, keyPem } = createTestAuthority().issue(HOST)
    const server = createTlsServer({ cert: chainPem, key: keyPem }).listen(0, '127.0.0.1')
    t.after(() => server.close())
    await once(server, 'listening')
    const accepted: Promise<Socket[]> = once(server, 'connection')
    const secured: Promise<TLSSocket[]> = once(server, 'secureConnection')
    const { port } = server.address() as AddressInfo
    const client = await handshake(port, HOST, { rejectUnauthorized: false })
    const [[raw], [socket]] = await Promise.all([accepted, secured])
    assert.ok(raw !== undefined && socket !== undefined)
    socket.on('error', () => {})
    await expectProgress(raw, socket, client)
  })
})

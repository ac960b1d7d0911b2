import assert from 'node:assert/strict'
import { once } from 'node:events'
import { BoundSocket, connect, createServer, type Socket } from 'node:net'
import { describe, test } from 'node:test'
import { acceptorEntrance, createAcceptor } from '../../src/platform/http/front-server.ts'

const SKIP = process.platform !== 'linux' && 'sockets share a port on Linux alone'

describe('createAcceptor', { skip: SKIP }, () => {
  test('hands its connections to the HTTP server', async (t) => {
    const accepted: Socket[] = []
    const server = createServer({ allowHalfOpen: true })
    server.on('connection', (socket) => accepted.push(socket))
    const bound = new BoundSocket({ host: '127.0.0.1' })
    const { port } = bound.address() as { port: number }
    const acceptor = createAcceptor(server, { allowHalfOpen: true }).listen(bound)
    await once(acceptor, 'listening')
    const client = connect(port, '127.0.0.1')
    t.after(() => client.destroy())
    await once(server, 'connection')
    assert.equal(accepted.length, 1)
    assert.equal(accepted[0]?.allowHalfOpen, true)
    const closed = acceptorEntrance(acceptor).close?.()
    accepted[0]?.destroy()
    await closed
    await assert.rejects(once(connect(port, '127.0.0.1'), 'connect'), { code: 'ECONNREFUSED' })
  })
})

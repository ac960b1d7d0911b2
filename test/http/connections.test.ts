import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { afterEach, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type ConnectionBounds,
  Connections,
} from '../../src/platform/http/connections/connections.ts'
import { createFront } from '../../src/platform/http/front.ts'
import { Networks } from '../../src/platform/network/ip-address.ts'
import { eventually } from '../support/eventually.ts'

const MIB = 1024 * 1024
/** More than the system buffers for one connection on loopback. */
const LARGE_MIB = 16
const LARGE_BODY = Buffer.alloc(LARGE_MIB * MIB, 'a')
/** A busy machine may stop this process, which has both ends, for a second. */
const DRAIN_WINDOW_MS = 3_000
const GENEROUS: ConnectionBounds = {
  connectionsMax: 100,
  connectionsPerAddressMax: 100,
  unsentBytesMax: 1_000 * MIB,
}

/** An export without end. */
function* endless(): Generator<Buffer> {
  for (;;) yield LARGE_BODY.subarray(0, MIB)
}

describe('Connections', () => {
  let front: Server
  let connections: Connections
  let clients: Socket[] = []
  /** How many requests for `/never` have started; they get no answer. */
  let started = 0
  afterEach(() => {
    for (const client of clients) client.destroy()
    clients = []
    front.close()
    front.closeAllConnections()
  })

  async function start(
    bounds: Partial<ConnectionBounds>,
    trusted: string[] = [],
    openMax?: number,
  ): Promise<void> {
    started = 0
    const trustedProxies = new Networks()
    for (const network of trusted) trustedProxies.add(network)
    connections = new Connections({
      bounds: { ...GENEROUS, ...bounds },
      trustedProxies,
      ...(openMax !== undefined && { openMax }),
      drainWindowMs: DRAIN_WINDOW_MS,
    })
    front = createFront({
      isForApi: () => false,
      api: () => assert.fail('no request is for the API'),
      redirect(_request, response, { path }) {
        if (path === '/never') {
          started += 1
          return
        }
        response.writeHead(200)
        if (path === '/endless') Readable.from(endless()).pipe(response)
        else response.end(path === '/large' ? LARGE_BODY : 'small')
      },
      fastRedirect: (exchange) =>
        exchange.answer(302, { 'Content-Length': '0' }, { Location: '/fast' }, ''),
      connections,
    })
    front.listen(0)
    await once(front, 'listening')
  }

  /** A client that reads nothing unless the test does. */
  async function open(localAddress = '127.0.0.1'): Promise<Socket> {
    const { port } = front.address() as AddressInfo
    const socket = connect({ host: '127.0.0.1', port, localAddress })
    socket.on('error', () => {})
    clients.push(socket)
    await once(socket, 'connect')
    return socket
  }

  /** Sends a request with a method that the fast path does not handle. */
  function send(socket: Socket, path: string, method = 'POST'): void {
    socket.write(`${method} ${path} HTTP/1.1\r\nHost: go.test\r\nContent-Length: 0\r\n\r\n`)
  }

  async function closed(socket: Socket): Promise<void> {
    socket.resume()
    if (!socket.closed) await once(socket, 'close')
  }

  async function isAnswered(socket: Socket): Promise<boolean> {
    send(socket, '/small')
    const [bytes] = await Promise.race([once(socket, 'data'), once(socket, 'close')])
    return Buffer.isBuffer(bytes)
  }

  test('closes the oldest idle connection of an address to admit a new one from it', async () => {
    await start({ connectionsPerAddressMax: 2 })
    const busy = await open()
    send(busy, '/never')
    await eventually(async () => assert.equal(started, 1))
    const idle = await open()
    assert.ok(await isAnswered(idle))
    const other = await open('127.0.0.2')
    const fresh = await open()
    await closed(idle)
    assert.ok(await isAnswered(fresh))
    assert.ok(await isAnswered(other))
    assert.ok(!busy.closed)
    assert.equal(connections.count, 3)
    assert.equal(connections.closed.made_room, 1)
  })

  test('refuses a new connection from an address whose connections are all busy', async () => {
    await start({ connectionsPerAddressMax: 1 })
    const busy = await open()
    send(busy, '/never')
    await eventually(async () => assert.equal(started, 1))
    await closed(await open())
    assert.ok(!busy.closed)
    assert.equal(connections.closed.made_room, 0)
    assert.equal(connections.closed.too_many_of_address, 1)
    assert.ok(await isAnswered(await open('127.0.0.2')))
  })

  test('closes a connection of the address with the most when the total limit is reached', async () => {
    await start({ connectionsMax: 4 })
    const single = await open('127.0.0.2')
    const many = [await open('127.0.0.3'), await open('127.0.0.3'), await open('127.0.0.3')]
    await eventually(async () => assert.equal(connections.count, 4))
    assert.ok(await isAnswered(await open('127.0.0.4')))
    await closed(many[0] as Socket)
    assert.ok(await isAnswered(single))
    assert.equal(connections.count, 4)
  })

  test('never refuses a trusted proxy', async () => {
    await start({ connectionsMax: 2, connectionsPerAddressMax: 1 }, ['127.0.0.9'])
    for (let nth = 0; nth < 5; nth += 1) assert.ok(await isAnswered(await open('127.0.0.9')))
    assert.equal(connections.count, 5)
  })

  test('closes idle connections, at last those of a trusted proxy, when it can open no more', async () => {
    await start({}, ['127.0.0.9'], 2)
    const proxied = await open('127.0.0.9')
    send(proxied, '/never')
    await eventually(async () => assert.equal(started, 1))
    const direct = await open()
    const idle = await open('127.0.0.9')
    await closed(direct)
    assert.ok(await isAnswered(idle))
    const busy = await open()
    await closed(idle)
    send(busy, '/never')
    await eventually(async () => assert.equal(started, 2))
    await closed(await open())
    assert.equal(connections.closed.too_many, 1)
    assert.ok(await isAnswered(await open('127.0.0.9')), 'a trusted proxy is not refused')
    assert.ok(!proxied.closed && !busy.closed)
    assert.equal(connections.closed.made_room, 2)
  })

  test('stops counting connections that have ended', async () => {
    await start({ connectionsPerAddressMax: 1 })
    for (let nth = 0; nth < 3; nth += 1) {
      const socket = await open()
      assert.ok(await isAnswered(socket))
      socket.destroy()
      await eventually(async () => assert.equal(connections.count, 0))
    }
    assert.equal(connections.closed.made_room, 0)
  })

  test('closes readers that stall or read too slowly, and keeps slow and idle ones', async () => {
    await start({})
    const idle = await open()
    assert.ok(await isAnswered(idle))
    const stalled = await open()
    send(stalled, '/large')
    const exporting = await open()
    send(exporting, '/endless')
    const slow = await open()
    send(slow, '/large')
    slow.pause()
    let taken = 0
    const reading = setInterval(() => {
      taken += slow.read()?.length ?? 0
    }, 50)
    const startedMs = performance.now()
    try {
      await eventually(async () => assert.equal(connections.closed.slow_reader, 2))
      await sleep(DRAIN_WINDOW_MS)
    } finally {
      clearInterval(reading)
    }
    assert.ok(performance.now() - startedMs >= DRAIN_WINDOW_MS)
    await Promise.all([closed(stalled), closed(exporting)])
    assert.equal(connections.closed.slow_reader, 2)
    assert.ok(taken > 0 && !slow.closed)
    assert.ok(await isAnswered(idle))
  })

  test('closes the slowest readers of an address with too many unsent bytes, and no others', async () => {
    // One address may hold a quarter of the limit: two of these answers.
    await start({ unsentBytesMax: 4 * 2 * LARGE_MIB * MIB })
    const other = await open('127.0.0.2')
    send(other, '/large')
    const holders = await Promise.all(Array.from({ length: 6 }, () => open()))
    for (const holder of holders) send(holder, '/large')
    await eventually(async () => assert.ok(connections.closed.unsent_of_address > 0))
    await eventually(async () => {
      assert.ok(connections.unsentBytes > 0)
      assert.ok(connections.unsentBytes <= 4 * LARGE_MIB * MIB, `${connections.unsentBytes}`)
    })
    assert.ok(connections.count < 7)
    assert.ok(connections.closed.unsent === 0)
    let bytes = 0
    for await (const chunk of other) {
      bytes += chunk.length
      if (bytes > LARGE_BODY.length) break
    }
    assert.ok(bytes > LARGE_BODY.length)
  })

  test('keeps the unsent bytes of all addresses within the process’s limit', async () => {
    const unsentBytesMax = 5 * LARGE_MIB * MIB
    await start({ unsentBytesMax })
    for (let nth = 1; nth <= 8; nth += 1) send(await open(`127.0.1.${nth}`), '/large')
    await eventually(async () => assert.ok(connections.closed.unsent > 0))
    await eventually(async () => assert.ok(connections.unsentBytes <= unsentBytesMax))
    assert.equal(connections.closed.unsent_of_address, 0)
  })
})

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import {
  ListeningSockets,
  SOCKETS_PER_PORT,
  takePorts,
} from '../../src/app/processes/listening-sockets.ts'
import { freePort } from '../support/free-port.ts'

const HOST = '127.0.0.1'

async function open(t: TestContext, host: string | undefined, isDistributed?: boolean) {
  const port = await freePort()
  const sockets = await ListeningSockets.open({ host, port }, isDistributed)
  t.after(() => sockets.close())
  return { port, sockets }
}

/** Listens on a socket by its descriptor, as a worker process does. */
async function listenOn(t: TestContext, fd: number): Promise<AddressInfo> {
  const server = createServer().listen({ fd })
  t.after(() => server.close())
  await once(server, 'listening')
  return server.address() as AddressInfo
}

describe('ListeningSockets', () => {
  test('opens one socket for each worker where the kernel distributes connections, and else one for all', async (t) => {
    const one = (await open(t, HOST, false)).sockets
    assert.equal(one.descriptor(0), one.descriptor(1))
    one.release(0)
    assert.equal(one.descriptor(0), one.descriptor(1), 'the other workers still need it')
    if (process.platform !== 'linux') return
    const many = (await open(t, HOST)).sockets
    const first = many.descriptor(0)
    assert.notEqual(first, many.descriptor(1))
    assert.equal(first, many.descriptor(0))
  })

  for (const isDistributed of [process.platform === 'linux', false]) {
    test(`refuses a port that is in use, with distribution ${isDistributed ? 'on' : 'off'}`, async (t) => {
      const { port, sockets } = await open(t, HOST, isDistributed)
      await listenOn(t, sockets.descriptor(0))
      for (const host of [HOST, undefined]) {
        await assert.rejects(ListeningSockets.open({ host, port }, isDistributed), {
          code: 'EADDRINUSE',
        })
      }
    })
  }

  test('listens on every address when none is given, and on the address of a name', async (t) => {
    const everywhere = await open(t, undefined)
    const { address } = await listenOn(t, everywhere.sockets.descriptor(0))
    assert.match(address, /^(::|0\.0\.0\.0)$/)
    const named = await open(t, 'localhost')
    const { address: local } = await listenOn(t, named.sockets.descriptor(0))
    assert.match(local, /^(::1|127\.0\.0\.1)$/)
  })
})

describe('takePorts', () => {
  test('opens several sockets of a port on Linux, and one elsewhere', async (t) => {
    for (const [isDistributed, count] of [
      [process.platform === 'linux', process.platform === 'linux' ? SOCKETS_PER_PORT : 1],
      [false, 1],
    ] as const) {
      const port = await freePort()
      const [sockets = []] = await takePorts([{ host: HOST, port }], isDistributed)
      t.after(() => {
        for (const socket of sockets) socket.close()
      })
      assert.deepEqual(
        sockets.map((socket) => socket.address().port),
        Array.from({ length: count }, () => port),
      )
    }
  })

  test('opens no port when one of them is in use, also by a process that distributes it', async (t) => {
    const [free, taken] = [await freePort(), await freePort()]
    const others = await takePorts([{ host: HOST, port: taken }])
    const servers = others.flat().map((socket) => createServer().listen(socket))
    await Promise.all(servers.map((server) => once(server, 'listening')))
    t.after(() => {
      for (const server of servers) server.close()
    })
    const addresses = [free, taken].map((port) => ({ host: HOST, port }))
    await assert.rejects(takePorts(addresses), { code: 'EADDRINUSE' })
    const probe = createServer().listen(free, HOST)
    await once(probe, 'listening')
    probe.close()
  })
})

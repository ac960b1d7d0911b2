import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createFront } from '../../src/platform/http/front.ts'
import { waitingRequests } from '../../src/platform/http/front-server.ts'
import { eventually } from '../support/eventually.ts'

/** More than the system buffers for one connection on loopback. */
const LARGE_BODY = Buffer.alloc(32 * 1024 * 1024, 'a')
/** Enough to fill several packets. */
const REQUESTS = 5_000
/** Far longer than a server needs to start a request that has arrived. */
const SETTLE_MS = 200

function request(path: string, lines = ''): string {
  return `GET ${path} HTTP/1.1\r\nHost: go.test\r\n${lines}\r\n`
}

for (const isFast of [true, false]) {
  const name = `requests on one connection with fast redirects ${isFast ? 'on' : 'off'}`
  describe(name, () => {
    let front: Server
    let port: number
    let started: string[] = []
    let waitingMax = 0
    before(async () => {
      front = createFront({
        isForApi: () => false,
        api: () => assert.fail('no request is for the API'),
        redirect(request, response, { path }) {
          started.push(path)
          waitingMax = Math.max(waitingMax, waitingRequests(request.socket))
          const body = path === '/large' ? LARGE_BODY : `${path}\n`
          response.writeHead(200, { 'Content-Length': String(Buffer.byteLength(body)) })
          response.end(body)
        },
        fastRedirect: isFast
          ? (exchange) => {
              started.push(exchange.target.path)
              const body = exchange.target.path === '/large' ? LARGE_BODY.toString() : 'fast\n'
              exchange.answer(200, { 'Content-Length': String(body.length) }, {}, body)
            }
          : undefined,
      })
      front.listen(0, '127.0.0.1')
      await once(front, 'listening')
      port = (front.address() as AddressInfo).port
    })
    after(() => {
      front.close()
      front.closeAllConnections()
    })

    async function open(): Promise<Socket> {
      started = []
      waitingMax = 0
      const socket = connect({ host: '127.0.0.1', port, noDelay: true, allowHalfOpen: true })
      await once(socket, 'connect')
      return socket
    }

    test('start after the answers before them have left the process', async () => {
      const socket = await open()
      socket.write(request('/large'))
      await eventually(async () => assert.equal(started.length, 1))
      socket.write(request('/a') + request('/large') + request('/b'))
      await sleep(SETTLE_MS)
      socket.write(request('/c', 'Connection: close\r\n'))
      await sleep(SETTLE_MS)
      assert.deepEqual(started, ['/large'])
      let length = 0
      for await (const chunk of socket) length += chunk.length
      assert.deepEqual(started, ['/large', '/a', '/large', '/b', '/c'])
      assert.ok(length > 2 * LARGE_BODY.length)
    })

    test('are all answered in order, however many arrive at once', async () => {
      const socket = await open()
      const paths = Array.from({ length: REQUESTS }, (_, nth) => `/${nth}`)
      socket.end(paths.map((path) => request(path)).join(''))
      let text = ''
      for await (const chunk of socket.setEncoding('latin1')) text += chunk
      assert.deepEqual(started, paths)
      assert.equal(text.split('HTTP/1.1 200').length - 1, REQUESTS)
      assert.ok(waitingMax > 0 && waitingMax < 250, `${waitingMax} waited at once`)
    })
  })
}

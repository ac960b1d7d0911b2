import assert from 'node:assert/strict'
import { once } from 'node:events'
import { constants } from 'node:http2'
import { type AddressInfo, connect, createServer } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createFront } from '../../src/platform/http/front.ts'
import { createHttp2Front } from '../../src/platform/http/http2-front.ts'
import { eventually } from '../support/eventually.ts'
import {
  FRAME,
  frame,
  getBlock,
  plainHeader,
  RawHttp2,
  references,
  rememberedHeader,
} from '../support/raw-http2.ts'

const BODY = 'a'.repeat(600 * 1024)
const STREAMS = 100
/** The number of requests that one connection may run at once. */
const STARTED_MAX = 8
/** Far more refused requests than a connection is allowed. */
const ATTEMPTS_MAX = 200_000
const AT_ONCE = 50
/** Requests that are started against the limit would start within it. */
const QUIET_MS = 200
const OPEN_WINDOW = 2 ** 30

describe('the limits on an HTTP/2 connection', () => {
  let started = 0
  const errors: string[] = []
  const front = createFront({
    isForApi: () => false,
    api: () => assert.fail('no request is for the API'),
    redirect(_request, response, { path }) {
      started += 1
      if (path === '/never') return
      response.writeHead(200)
      response.end(path === '/large' ? BODY : 'small')
    },
    fastRedirect: undefined,
  })
  const http2 = createHttp2Front(front, {
    onError: (error) => errors.push(String((error as NodeJS.ErrnoException).code)),
  })
  const acceptor = createServer((socket) => http2.take(socket))
  before(async () => {
    acceptor.listen(0, '127.0.0.1')
    await once(acceptor, 'listening')
  })
  after(() => {
    http2.closeAll()
    acceptor.close()
  })

  function open(initialWindowSize?: number): RawHttp2 {
    started = 0
    errors.length = 0
    const { port } = acceptor.address() as AddressInfo
    return new RawHttp2(connect({ host: '127.0.0.1', port }), initialWindowSize)
  }

  /** Sends until the connection is closed; returns the GOAWAY code, if any. */
  async function sendUntilClosed(
    session: RawHttp2,
    send: (stream: number) => void,
  ): Promise<number | undefined> {
    let stream = 3
    for (; !session.isClosed && stream < 2 * ATTEMPTS_MAX; stream += 2) {
      send(stream)
      if ((stream - 1) % (2 * AT_ONCE) === 0) await session.sent()
      if ((stream - 1) % (2 * AT_ONCE) === 0) await new Promise(setImmediate)
    }
    assert.ok(stream < 2 * ATTEMPTS_MAX, 'the connection was never closed')
    const goaway = session.frames.findLast(({ type }) => type === FRAME.goaway)
    return goaway?.payload.readUInt32BE(4)
  }

  for (const count of [200, 16_000]) {
    test(`close it when its requests reference one HPACK header ${count} times`, async () => {
      const session = open()
      const plain = getBlock('go.test', '/small')
      session.request(1, Buffer.concat([plain, rememberedHeader('x', 'a'.repeat(3_900))]))
      const bomb = Buffer.concat([plain, references(count)])
      const code = await sendUntilClosed(session, (stream) => session.request(stream, bomb))
      // The reset of the connection may overtake the bytes sent before it.
      assert.ok(code === undefined || code === constants.NGHTTP2_ENHANCE_YOUR_CALM)
      assert.deepEqual(errors, ['ERR_TOO_MANY_REFUSED_STREAMS'])
      assert.equal(started, 1)
    })
  }

  test('close it when it cancels request after request', async () => {
    const session = open()
    const cancel = Buffer.alloc(4)
    cancel.writeUInt32BE(constants.NGHTTP2_CANCEL)
    const block = getBlock('go.test', '/never')
    await sendUntilClosed(session, (stream) => {
      session.request(stream, block)
      session.send(frame(FRAME.rstStream, 0, stream, cancel))
    })
    assert.equal(errors.length, 1)
  })

  test('close it when its requests are malformed', async () => {
    const session = open()
    const block = Buffer.concat([getBlock('go.test', '/small'), plainHeader('connection', 'close')])
    await sendUntilClosed(session, (stream) => session.request(stream, block))
    assert.deepEqual(errors, ['ERR_HTTP2_TOO_MANY_INVALID_FRAMES'])
    assert.equal(started, 0)
  })

  test('start few requests while answers stay unread, and all of them once they are read', async () => {
    const session = open(0)
    const block = getBlock('go.test', '/large')
    for (let stream = 1; stream < 2 * STREAMS; stream += 2) session.request(stream, block)
    await eventually(async () => assert.ok(started > 0))
    await sleep(QUIET_MS)
    // Two answers are more than a megabyte.
    assert.ok(started <= 2, `${started} started`)
    const increment = Buffer.alloc(4)
    increment.writeUInt32BE(OPEN_WINDOW)
    for (let stream = -1; stream < 2 * STREAMS; stream += 2) {
      session.send(frame(FRAME.windowUpdate, 0, Math.max(0, stream), increment))
    }
    await eventually(async () => assert.equal(session.answered, STREAMS))
    assert.equal(started, STREAMS)
    session.destroy()
  })

  test('run a limited number of requests at once, and start waiting ones when others end', async () => {
    const session = open()
    for (let stream = 1; stream <= 2 * STARTED_MAX + 3; stream += 2) {
      session.request(stream, getBlock('go.test', '/never'))
    }
    await eventually(async () => assert.equal(started, STARTED_MAX))
    const cancel = Buffer.alloc(4)
    cancel.writeUInt32BE(constants.NGHTTP2_CANCEL)
    // One waiting request and one running request.
    session.send(frame(FRAME.rstStream, 0, 2 * STARTED_MAX + 1, cancel))
    session.send(frame(FRAME.rstStream, 0, 1, cancel))
    await eventually(async () => assert.equal(started, STARTED_MAX + 1))
    session.destroy()
  })
})

import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { type ClientHttp2Session, connect, constants, type IncomingHttpHeaders } from 'node:http2'
import { type AddressInfo, createServer } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import { createFront } from '../../src/platform/http/front.ts'
import { createHttp2Front } from '../../src/platform/http/http2-front.ts'

/** For tests of everything but limits: however busy the machine is, none of them ends a request. */
const NO_LIMITS = { idleMs: 60_000, standstillMs: 60_000, requestMs: 60_000 }
const IDLE_MS = 900
const STANDSTILL_MS = 600
const REQUEST_MS = 200
const SLOW_ANSWER_MS = 2 * REQUEST_MS
const DRIP_INTERVAL_MS = 50

describe('the HTTP/2 front', () => {
  /** Emits the path of each request when it arrives. */
  const requests = new EventEmitter()
  const front = createFront({
    isForApi: () => false,
    api: () => assert.fail('no request is for the API'),
    redirect(request, response, { host, path, query }) {
      const location = `https://example.com/${host}${path}?${query}`
      const answer = () => response.writeHead(302, { location }).end()
      requests.emit(path)
      if (path === '/slow') setTimeout(answer, SLOW_ANSWER_MS)
      else if (path === '/upload') request.on('end', answer).resume()
      else if (path !== '/never') answer()
    },
    fastRedirect: undefined,
  })
  /** The session of the current test. */
  let session: ClientHttp2Session

  async function open(t: TestContext, limits: Partial<typeof NO_LIMITS> = {}) {
    const http2 = createHttp2Front(front, { limits: { ...NO_LIMITS, ...limits } })
    const acceptor = createServer((socket) => http2.take(socket)).listen(0, '127.0.0.1')
    await once(acceptor, 'listening')
    session = connect(`http://127.0.0.1:${(acceptor.address() as AddressInfo).port}`)
    session.on('error', () => {})
    t.after(() => {
      http2.closeAll()
      acceptor.close()
    })
    return { http2, closed: once(session, 'close') }
  }

  /**
   * Returns the answer’s headers, or the reset code when there is no answer.
   *
   * @param drip sends an endless body, a byte at a time
   */
  async function send(headers: Record<string, string>, drip = false) {
    const stream = session.request({ ':authority': 'go.test', ...headers }, { endStream: !drip })
    const dripping = drip ? setInterval(() => stream.write('x'), DRIP_INTERVAL_MS) : undefined
    stream.on('error', () => {})
    return new Promise<IncomingHttpHeaders | number | undefined>((resolve) => {
      stream.on('response', (answer) => {
        stream.close()
        resolve(answer)
      })
      stream.on('close', () => {
        clearInterval(dripping)
        resolve(stream.rstCode)
      })
    })
  }

  async function statusOf(headers: Record<string, string>): Promise<unknown> {
    const answer = await send(headers)
    return typeof answer === 'object' ? answer[':status'] : answer
  }

  test('takes the host from :authority, whatever the Host header contains', async (t) => {
    await open(t)
    const answer = await send({ ':authority': 'Go.TEST:443', host: 'other.test', ':path': '/a?b' })
    assert.ok(typeof answer === 'object')
    assert.equal(answer[':status'], 302)
    assert.equal(answer.location, 'https://example.com/go.test/a?b')
    for (const headers of [
      { ':authority': 'a,b', ':path': '/' },
      { ':authority': '[::1', ':path': '/' },
      { ':path': '*', ':method': 'OPTIONS' },
    ]) {
      assert.equal(await statusOf(headers), 400, JSON.stringify(headers))
    }
    session.close()
  })

  test('lets an answer take its time, but cancels a request whose body takes too long', async (t) => {
    await open(t, { requestMs: REQUEST_MS })
    assert.equal(await statusOf({ ':path': '/slow' }), 302)
    const upload = await send({ ':path': '/upload', ':method': 'POST' }, true)
    assert.equal(upload, constants.NGHTTP2_CANCEL)
    session.close()
  })

  test('cancels a stalled request, and closes an idle connection', async (t) => {
    const { closed } = await open(t, { standstillMs: STANDSTILL_MS, idleMs: IDLE_MS })
    const startedMs = performance.now()
    assert.equal(await send({ ':path': '/never' }), constants.NGHTTP2_CANCEL)
    assert.ok(performance.now() - startedMs >= STANDSTILL_MS - 50)
    await closed
  })

  test('finishes running requests and then closes, on closeIdle', async (t) => {
    const { http2, closed } = await open(t)
    const started = once(requests, '/slow')
    const slow = statusOf({ ':path': '/slow' })
    await started
    http2.closeIdle()
    assert.equal(await slow, 302)
    await closed
  })
})

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type ClientHttp2Session, connect, constants, type IncomingHttpHeaders } from 'node:http2'
import { type AddressInfo, createServer } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createFront } from '../../src/platform/http/front.ts'
import { createHttp2Front } from '../../src/platform/http/http2-front.ts'

const LIMITS = { idleMs: 900, standstillMs: 600, requestMs: 200 }
/** Longer than a request may take to come. */
const SLOW_ANSWER_MS = 400
const DRIP_INTERVAL_MS = 50
const TIMEOUT_MS = 10_000

describe('HTTP/2', { timeout: TIMEOUT_MS }, () => {
  const front = createFront({
    isForApi: () => false,
    api: () => assert.fail('no request is for the API'),
    redirect(request, response, { host, path, query }) {
      const location = `https://example.com/${host}${path}?${query}`
      const answer = () => response.writeHead(302, { location }).end()
      if (path === '/slow') setTimeout(answer, SLOW_ANSWER_MS)
      else if (path === '/upload') request.on('end', answer).resume()
      else if (path !== '/never') answer()
    },
    fastRedirect: undefined,
  })
  const http2 = createHttp2Front(front, { limits: LIMITS })
  const acceptor = createServer((socket) => http2.take(socket))
  let session: ClientHttp2Session
  before(async () => {
    acceptor.listen(0, '127.0.0.1')
    await once(acceptor, 'listening')
  })
  after(() => {
    http2.closeAll()
    acceptor.close()
  })
  const open = () => {
    session = connect(`http://127.0.0.1:${(acceptor.address() as AddressInfo).port}`)
    session.on('error', () => {})
    return session
  }

  /**
   * The answer's headers; the code where the request is cut off without one.
   *
   * @param drip sends a body that never ends, a byte now and then
   */
  async function ask(headers: Record<string, string>, drip = false) {
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
    const answer = await ask(headers)
    return typeof answer === 'object' ? answer[':status'] : answer
  }

  test('asks of a host in its own place, whatever else is said of it', async () => {
    open()
    const answer = await ask({ ':authority': 'Go.TEST:443', host: 'other.test', ':path': '/a?b' })
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

  test('lets an answer take its time, but no body', async () => {
    open()
    assert.equal(await statusOf({ ':path': '/slow' }), 302)
    const upload = await ask({ ':path': '/upload', ':method': 'POST' }, true)
    assert.equal(upload, constants.NGHTTP2_CANCEL)
    session.close()
  })

  test('cancels a request on which nothing moves, and ends a connection on which nothing is asked', async () => {
    open()
    const startedMs = performance.now()
    assert.equal(await ask({ ':path': '/never' }), constants.NGHTTP2_CANCEL)
    assert.ok(performance.now() - startedMs >= LIMITS.standstillMs - 50)
    await once(session, 'close')
  })

  test('finishes what was asked, and takes nothing more, when it is to close', async () => {
    open()
    const slow = statusOf({ ':path': '/slow' })
    await sleep(50)
    http2.closeIdle()
    assert.equal(await slow, 302)
    await once(session, 'close')
  })
})

import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { type ClientHttp2Session, connect, constants, type IncomingHttpHeaders } from 'node:http2'
import { type AddressInfo, createServer } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { createFront } from '../../src/platform/http/front.ts'
import { createHttp2Front } from '../../src/platform/http/http2-front.ts'

const LIMITS = { idleMs: 900, standstillMs: 600, requestMs: 200 }
/** Longer than requestMs. */
const SLOW_ANSWER_MS = 400
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

  test('takes the host from :authority, whatever the Host header contains', async () => {
    open()
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

  test('lets an answer take its time, but cancels a request whose body takes too long', async () => {
    open()
    assert.equal(await statusOf({ ':path': '/slow' }), 302)
    const upload = await send({ ':path': '/upload', ':method': 'POST' }, true)
    assert.equal(upload, constants.NGHTTP2_CANCEL)
    session.close()
  })

  test('cancels a stalled request, and closes an idle connection', async () => {
    open()
    const startedMs = performance.now()
    assert.equal(await send({ ':path': '/never' }), constants.NGHTTP2_CANCEL)
    assert.ok(performance.now() - startedMs >= LIMITS.standstillMs - 50)
    await once(session, 'close')
  })

  test('finishes running requests and then closes, on closeIdle', async () => {
    open()
    const started = once(requests, '/slow')
    const slow = statusOf({ ':path': '/slow' })
    await started
    http2.closeIdle()
    assert.equal(await slow, 302)
    await once(session, 'close')
  })
})

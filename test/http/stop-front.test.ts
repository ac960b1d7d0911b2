import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import { createFront } from '../../src/platform/http/front.ts'
import { stopFront } from '../../src/platform/http/front-server.ts'
import { headerOf, RawConnection } from '../support/raw-http.ts'

const REQUEST = 'GET /key HTTP/1.1\r\nHost: localhost\r\n\r\n'
const GRACE_MS = 500
/** A timer counts from when its turn of the event loop began, which may be earlier than it was set. */
const TIMER_EARLY_MS_MAX = 50
const ANSWER_MS_MAX = 20_000

async function start(isFast: boolean) {
  const front = createFront({
    isForApi: () => false,
    api: () => assert.fail('no request is for the API'),
    redirect: (_request, response) => response.writeHead(302, { 'Content-Length': '0' }).end(),
    fastRedirect: isFast
      ? (exchange) => exchange.answer(302, { 'Content-Length': '0' }, {}, '')
      : undefined,
  })
  front.listen(0, '127.0.0.1')
  await once(front, 'listening')
  const { port } = front.address() as AddressInfo
  return { front, port }
}

/** A connection on which one request has been answered. */
async function idleConnection(port: number): Promise<RawConnection> {
  const connection = await RawConnection.open(port)
  connection.write(REQUEST)
  const answer = await connection.nextAnswer(ANSWER_MS_MAX)
  assert.ok(answer)
  assert.equal(headerOf(answer, 'connection'), 'keep-alive')
  return connection
}

for (const isFast of [true, false]) {
  describe(`stopFront, with fast redirects ${isFast ? 'on' : 'off'}`, () => {
    test('answers a request that arrives on an idle connection within the grace period, and closes it', async () => {
      const { front, port } = await start(isFast)
      const used = await idleConnection(port)
      const fresh = await RawConnection.open(port)
      const stopped = stopFront(front, 60_000)
      for (const connection of [used, fresh]) {
        connection.write(REQUEST)
        const answer = await connection.nextAnswer(ANSWER_MS_MAX)
        assert.ok(answer)
        assert.equal(headerOf(answer, 'connection'), 'close')
        assert.deepEqual(await connection.answersUntilClosed(ANSWER_MS_MAX), [])
      }
      // No connection is left, so it does not wait for the grace period to end.
      await stopped
    })

    test('closes idle connections at the end of the grace period', async () => {
      const { front, port } = await start(isFast)
      const connection = await idleConnection(port)
      const startedMs = performance.now()
      await stopFront(front, GRACE_MS)
      assert.ok(performance.now() - startedMs >= GRACE_MS - TIMER_EARLY_MS_MAX)
      assert.deepEqual(await connection.answersUntilClosed(ANSWER_MS_MAX), [])
    })

    test('accepts no new connection', async () => {
      const { front, port } = await start(isFast)
      const connection = await idleConnection(port)
      const stopped = stopFront(front, GRACE_MS)
      await assert.rejects(RawConnection.open(port), { code: 'ECONNREFUSED' })
      connection.destroy()
      await stopped
    })
  })
}

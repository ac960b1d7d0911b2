import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import { answerClientError } from '../../src/platform/http/client-error.ts'
import type { FastExchange } from '../../src/platform/http/fast/fast-exchange.ts'
import { FastServer } from '../../src/platform/http/fast/fast-server.ts'
import { gateInput } from '../../src/platform/http/front-server.ts'
import { eventually } from '../support/eventually.ts'
import { headerOf, RawConnection } from '../support/raw-http.ts'

const CHECK_MS = 50
const HEADERS_MS = 200
const STANDSTILL_MS = 300
const KEEP_ALIVE_MS = 1_500
/** Well below KEEP_ALIVE_MS for a busy machine, and above BUFFER_MS and CHECK_MS together. */
const IDLE_MS = 400
const BUFFER_MS = 100
/** Generous, for a busy machine. */
const WITHIN_MS = 10_000
/** For tests of everything but limits: however busy the machine is, none of them ends a connection. */
const NO_LIMITS = {
  headersTimeout: 60_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 60_000,
  standstillTimeout: 60_000,
}

const FIXED = { 'Content-Length': '0' }

function request(path: string, lines = ''): string {
  return `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${lines}\r\n`
}

describe('FastServer', () => {
  /** The server of the current test. */
  let server: FastServer
  /** Requests for `/later`, which the tests answer. */
  let later: FastExchange[] = []
  const visitStarted = () => once(server, 'visit started')
  async function open(t: TestContext, limits: Partial<typeof NO_LIMITS> = {}) {
    later = []
    server = new FastServer(
      {
        ...NO_LIMITS,
        ...limits,
        connectionsCheckingInterval: CHECK_MS,
        keepAliveTimeoutBuffer: BUFFER_MS,
        onOpen: () => {},
        onHandOver: gateInput,
        answer(exchange) {
          if (exchange.target.path === '/general') return false
          if (exchange.target.path === '/later') {
            later.push(exchange)
            server.emit('visit started')
          } else {
            exchange.answer(302, FIXED, { Location: '/fast' }, '')
          }
          return true
        },
      },
      (_request, response) => {
        response.writeHead(302, { Location: '/general', 'Content-Length': '0' })
        response.end()
      },
    )
    server.on('clientError', (error, socket: Socket) => {
      answerClientError(error, socket, undefined)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    })
    return another()
  }

  const another = () => RawConnection.open((server.address() as AddressInfo).port)

  async function locationAt(connection: RawConnection): Promise<string | undefined> {
    const answer = await connection.nextAnswer(WITHIN_MS)
    return answer && headerOf(answer, 'location')
  }

  test('answers simple visits itself and everything else through Node, on one connection', async (t) => {
    const connection = await open(t)
    for (const path of ['/a', '/b']) {
      connection.write(request(path))
      assert.equal(await locationAt(connection), '/fast')
    }
    connection.write(request('/general'))
    assert.equal(await locationAt(connection), '/general')
    // From here on Node’s server handles the connection.
    connection.write(request('/a'))
    assert.equal(await locationAt(connection), '/general')
    connection.destroy()
  })

  test('answers requests that arrive during a visit after it, in order', async (t) => {
    const connection = await open(t)
    const first = visitStarted()
    connection.write(request('/later'))
    await first
    connection.write(request('/general'))
    connection.write(request('/general', 'Connection: close\r\n'))
    await new Promise((resolve) => setTimeout(resolve, CHECK_MS))
    later[0]?.answer(302, FIXED, { Location: '/late' }, '')
    assert.equal(await locationAt(connection), '/late')
    const rest = await connection.answersUntilClosed(WITHIN_MS)
    assert.deepEqual(
      rest.map((answer) => headerOf(answer, 'location')),
      ['/general', '/general'],
    )
  })

  test('drops an answer whose visitor has disconnected', async (t) => {
    const connection = await open(t)
    const first = visitStarted()
    connection.write(request('/later'))
    await first
    connection.destroy()
    await untilConnections(0)
    later[0]?.answer(302, FIXED, { Location: '/late' }, '')
    assert.equal(later[0]?.isAnswered, true)
  })

  async function untilConnections(wanted: number): Promise<void> {
    await eventually(async () => {
      const count = await new Promise<number>((resolve) => {
        server.getConnections((_, connections) => resolve(connections))
      })
      assert.equal(count, wanted)
    })
  }

  test('returns 408 to a client that sends nothing', async (t) => {
    const startedMs = performance.now()
    const connection = await open(t, { headersTimeout: HEADERS_MS })
    const [answer] = await connection.answersUntilClosed(WITHIN_MS)
    assert.equal(answer?.status, 408)
    assert.ok(performance.now() - startedMs >= HEADERS_MS)
  })

  test('closes a connection whose visit stalls', async (t) => {
    const connection = await open(t, { standstillTimeout: STANDSTILL_MS })
    const startedMs = performance.now()
    connection.write(request('/later'))
    assert.deepEqual(await connection.answersUntilClosed(WITHIN_MS), [])
    assert.ok(performance.now() - startedMs >= STANDSTILL_MS)
  })

  test('closes an idle connection after the keep-alive time, counted from the last answer', async (t) => {
    const connection = await open(t, { keepAliveTimeout: KEEP_ALIVE_MS })
    connection.write(request('/a'))
    assert.equal(await locationAt(connection), '/fast')
    await new Promise((resolve) => setTimeout(resolve, IDLE_MS))
    connection.write(request('/a'))
    assert.equal(await locationAt(connection), '/fast')
    const answeredMs = performance.now()
    assert.deepEqual(await connection.answersUntilClosed(WITHIN_MS), [])
    assert.ok(performance.now() - answeredMs >= KEEP_ALIVE_MS)
  })

  test('closes idle connections, and no others, on closeIdleConnections', async (t) => {
    const idle = await open(t)
    idle.write(request('/a'))
    assert.equal(await locationAt(idle), '/fast')
    const busy = await another()
    const first = visitStarted()
    busy.write(request('/later'))
    await first
    server.closeIdleConnections()
    assert.deepEqual(await idle.answersUntilClosed(WITHIN_MS), [])
    later[0]?.answer(302, FIXED, { Location: '/late' }, '')
    assert.equal(await locationAt(busy), '/late')
    busy.destroy()
  })
})

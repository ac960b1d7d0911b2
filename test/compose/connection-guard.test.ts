import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { pino } from 'pino'
import { type ConnectionGuard, openConnectionGuard } from '../../src/app/node/connection-guard.ts'
import { createFront } from '../../src/platform/http/front.ts'
import { formatMetrics } from '../../src/platform/metrics/metric.ts'
import { Networks } from '../../src/platform/network/ip-address.ts'
import { RawConnection } from '../support/raw-http.ts'

const MALFORMED = 30
const ANSWER_WITHIN_MS = 20_000

describe('openConnectionGuard with a limit of open files', () => {
  const cases = [
    { openFiles: 1_024, warning: { openFiles: 1_024, connectionsMax: 824, requested: 1_000 } },
    { openFiles: 64, warning: { openFiles: 64, connectionsMax: 10, requested: 1_000 } },
    { openFiles: 1_200, warning: undefined },
    { openFiles: undefined, warning: undefined },
  ]
  for (const { openFiles, warning } of cases) {
    test(`${warning ? 'lowers' : 'keeps'} 1,000 connections with ${openFiles ?? 'no known limit'}`, () => {
      const logged: Record<string, unknown>[] = []
      const connections = {
        connectionsMax: 1_000,
        connectionsPerAddressMax: 2,
        unsentBytesMax: 1e9,
      }
      const log = pino({ base: null }, { write: (line) => logged.push(JSON.parse(line)) })
      openConnectionGuard(
        { connections, trustedProxies: new Networks() },
        log,
        openFiles ?? Infinity,
      )
      const warnings = logged.map(({ level: _level, time: _time, msg, ...fields }) => ({
        msg,
        ...fields,
      }))
      const msg = 'fewer connections than configured'
      assert.deepEqual(warnings, warning === undefined ? [] : [{ msg, ...warning }])
    })
  }
})

describe('openConnectionGuard', () => {
  const lines: Record<string, unknown>[] = []
  let guard: ConnectionGuard
  let front: Server
  before(async () => {
    guard = openConnectionGuard(
      {
        connections: { connectionsMax: 2, connectionsPerAddressMax: 2, unsentBytesMax: 1e9 },
        trustedProxies: new Networks(),
      },
      pino({}, { write: (line) => lines.push(JSON.parse(line)) }),
    )
    front = createFront({
      isForApi: () => false,
      api: () => assert.fail('no request is for the API'),
      redirect: (_request, response) => response.end(),
      fastRedirect: (exchange) => exchange.answer(302, { 'Content-Length': '0' }, {}, ''),
      connections: guard.connections,
      onMalformed: guard.noteMalformed,
    })
    front.listen(0, '127.0.0.1')
    await once(front, 'listening')
  })
  after(() => {
    front.close()
    front.closeAllConnections()
  })

  async function send(bytes: string): Promise<void> {
    const connection = await RawConnection.open((front.address() as AddressInfo).port)
    connection.write(bytes)
    const [answer] = await connection.answersUntilClosed(ANSWER_WITHIN_MS)
    assert.equal(answer?.status, 400)
  }

  async function metricsText(): Promise<string> {
    return formatMetrics(await guard.metrics(), {})
  }

  test('logs one line for each kind of malformed request, and counts them in metrics', async () => {
    for (let nth = 0; nth < MALFORMED; nth += 1) await send('this is no HTTP\r\n\r\n')
    await send('GET / HTTP/1.1\r\n\r\n')
    guard.noteMalformed(Object.assign(new Error('gone'), { code: 'ECONNRESET' }))
    assert.deepEqual(lines, [])
    guard.stop()
    const logged = lines.splice(0).map(({ msg, kind, count }) => ({ msg, kind, count }))
    assert.deepEqual(logged, [
      { msg: 'malformed requests', kind: 'HPE_INVALID_METHOD', count: MALFORMED },
      { msg: 'malformed requests', kind: 'invalid_target', count: 1 },
    ])
    const text = await metricsText()
    assert.ok(
      text.includes(`terse_malformed_requests_total{kind="HPE_INVALID_METHOD"} ${MALFORMED}`),
    )
  })

  test('logs and counts the connections that it has closed', async () => {
    const { port } = front.address() as AddressInfo
    const opened: RawConnection[] = []
    for (let nth = 0; nth < 5; nth += 1) opened.push(await RawConnection.open(port))
    for (const connection of opened.slice(0, 3)) {
      assert.deepEqual(await connection.answersUntilClosed(ANSWER_WITHIN_MS), [])
    }
    guard.stop()
    const logged = lines.splice(0).map(({ msg, reason, count }) => ({ msg, reason, count }))
    assert.deepEqual(logged, [{ msg: 'connections closed', reason: 'made_room', count: 3 }])
    const text = await metricsText()
    assert.match(text, /^terse_connections\{\} 2$/m)
    assert.match(text, /^terse_connections_closed_total\{reason="made_room"\} 3$/m)
    for (const connection of opened) connection.destroy()
  })
})

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { after, afterEach, before, describe, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { openInstance } from '../../src/app/composition/instance.ts'
import { readConfig } from '../../src/app/config/config.ts'
import { apiClient, expectStatus } from '../support/api.ts'
import { type Place, SQLITE } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { handshake, keepCertificate, visitSecurely } from '../support/https.ts'
import { formSetting, isLongForm } from '../support/long-form.ts'
import { makeToken } from '../support/make-instance.ts'
import { getBlock, plainHeader, RawHttp2 } from '../support/raw-http2.ts'
import { type ServiceProcess, startProcess } from '../support/service-process.ts'
import { createTestAuthority } from '../support/test-authority.ts'
import { visit } from '../support/visit.ts'

/** In the long form each attack lasts longer, with more connections. */
const HOLD_MS = formSetting('FAULT_HOLD_SECONDS') * 1_000
const CONNECTIONS = isLongForm ? 300 : 20
const HOST = 'go.acme.test'
/** The process's limit for unread answers. */
const UNSENT_MIB = 64
/**
 * How much an attack may add to the memory of a process that has just started, garbage included. Lists that are made at
 * once leave up to 260 MiB of it, because the space for new objects is small.
 */
const GROWTH_MIB_MAX = 350
/** Together they make a list of a megabyte. */
const LINKS = 40
const LONG_URL = `https://example.com/${'a'.repeat(8_000)}`
const LIST = '/api/v1/links?per_page=100'
const TARGETS = [
  { name: 'an asset', path: '/docs' },
  { name: 'the description of the API', path: '/api/v1/openapi.json' },
  { name: 'a list', path: LIST },
]
const REQUESTS = 900
/** A generous estimate of the answers that the system buffers for a client that reads nothing. */
const ANSWERED_MAX = 200
const REQUESTS_EACH = 3
const SESSIONS = 15
const STREAMS = 100
/** A client at this rate is cut off after the window in which it should have read more. */
const SLOW_BYTES = 256
/** How often an ordinary visitor comes, and memory is read. */
const VISIT_PAUSE_MS = 20
const CUT_OFF_WITHIN_MS = 60_000
const TIMEOUT_MS = 600_000 + 20 * HOLD_MS

describe('clients that request much and read nothing', { timeout: TIMEOUT_MS }, () => {
  const authority = createTestAuthority()
  const ca = authority.certificatePem
  let place: Place
  let service: ServiceProcess
  let httpsPort: number
  let token: string
  let quietMib: number
  let sockets: Socket[] = []
  before(async () => {
    place = await SQLITE.createMigratedPlace()
    httpsPort = await freePort()
    const instance = await openInstance(readConfig(place.env), pino({ level: 'silent' }))
    await keepCertificate(instance, HOST, authority.issue(HOST))
    await instance.close()
    token = await makeToken(place.env)
    service = await startProcess(place, {
      TERSE_TLS: 'auto',
      TERSE_HTTPS_PORT: String(httpsPort),
      TERSE_BASE_URL: `https://${HOST}:${httpsPort}`,
      TERSE_UNSENT_MIB: String(UNSENT_MIB),
    })
    await eventually(() => visitSecurely(httpsPort, HOST, '/livez', { ca }))
    const api = apiClient(`http://127.0.0.1:${service.port}`, token)
    for (let nth = 0; nth < LINKS; nth += 1) {
      const urls = { url: LONG_URL, ios: LONG_URL, android: LONG_URL }
      const link = { domain: HOST, key: `key-${nth}`, ...urls }
      expectStatus(await api.post('/links', link), 201)
    }
    quietMib = residentMib()
  })
  afterEach(() => {
    for (const socket of sockets) socket.destroy()
    sockets = []
  })
  after(async () => {
    await service.kill()
    await place.remove()
  })

  function residentMib(): number {
    const status = readFileSync(`/proc/${service.child.pid}/status`, 'utf8')
    return Number(/^VmRSS:\s*(\d+) kB$/m.exec(status)?.[1]) / 1024
  }

  async function open(isSecure = false): Promise<Socket> {
    const socket = isSecure
      ? await handshake(httpsPort, HOST, { ca, ALPNProtocols: ['http/1.1'] })
      : connect({ host: '127.0.0.1', port: service.port })
    socket.on('error', () => {})
    if (!isSecure) await once(socket, 'connect')
    socket.pause()
    sockets.push(socket)
    return socket
  }

  function request(path: string): string {
    return `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\n\r\n`
  }

  /** Watches the memory during an attack with ordinary visitors beside it, then ends it. */
  async function expectBounded(t: TestContext): Promise<void> {
    const endsAt = performance.now() + HOLD_MS
    let mostMib = 0
    do {
      const { status } = await visit(service.port, '/livez', { host: '127.0.0.1' })
      assert.equal(status, 200)
      mostMib = Math.max(mostMib, residentMib() - quietMib)
      await sleep(VISIT_PAUSE_MS)
    } while (performance.now() < endsAt)
    const facts = `${Math.round(mostMib)} MiB more`
    t.diagnostic(facts)
    assert.ok(mostMib < GROWTH_MIB_MAX, facts)
  }

  /** Requests to the API that were answered since the start. */
  async function answered(): Promise<number> {
    const { body } = await visit(service.port, '/metrics', { host: '127.0.0.1' })
    const counts = body.matchAll(/^terse_api_requests_total\{.*\} (\d+)$/gm)
    return [...counts].reduce((sum, [, count]) => sum + Number(count), 0)
  }

  for (const { name, path } of TARGETS) {
    test(`${REQUESTS} requests for ${name} on one connection cost one answer`, async (t) => {
      const answeredBefore = await answered()
      const socket = await open()
      socket.write(request(path).repeat(REQUESTS))
      await expectBounded(t)
      assert.ok((await answered()) - answeredBefore < ANSWERED_MAX)
    })
  }

  test(`a client that reads ${SLOW_BYTES} bytes a second is cut off`, {
    skip: !isLongForm,
  }, async () => {
    const socket = connect({
      host: '127.0.0.1',
      port: service.port,
      // Pauses after each piece.
      onread: { buffer: Buffer.alloc(SLOW_BYTES), callback: () => false },
    })
    sockets.push(socket)
    socket.on('error', () => {})
    socket.write(request(LIST).repeat(REQUESTS))
    const reading = setInterval(() => socket.resume(), 1_000)
    try {
      await eventually(async () => {
        const { body } = await visit(service.port, '/metrics', { host: '127.0.0.1' })
        // Connections of this process: the visit's own is the only other one.
        assert.match(body, /^terse_connections\{.*\} 1$/m)
      }, CUT_OFF_WITHIN_MS)
    } finally {
      clearInterval(reading)
    }
  })

  for (const isSecure of [false, true]) {
    const over = isSecure ? 'HTTPS' : 'plain HTTP'
    test(`${CONNECTIONS} connections over ${over} stay below the memory limit`, async (t) => {
      for (let nth = 0; nth < CONNECTIONS; nth += 1) {
        const socket = await open(isSecure)
        socket.write(request(LIST).repeat(REQUESTS_EACH))
      }
      await expectBounded(t)
    })
  }

  for (const { name, path } of TARGETS) {
    test(`${SESSIONS} HTTP/2 connections with ${STREAMS} requests each for ${name} stay below the memory limit`, async (t) => {
      const block = Buffer.concat([
        getBlock(HOST, path),
        plainHeader('authorization', `Bearer ${token}`),
      ])
      for (let nth = 0; nth < SESSIONS; nth += 1) {
        const socket = await handshake(httpsPort, HOST, { ca, ALPNProtocols: ['h2'] })
        sockets.push(socket)
        const session = new RawHttp2(socket, 0)
        for (let stream = 1; stream < 2 * STREAMS; stream += 2) session.request(stream, block)
      }
      await expectBounded(t)
    })
  }
})

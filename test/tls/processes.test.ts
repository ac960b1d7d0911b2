import assert from 'node:assert/strict'
import { Agent } from 'node:https'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { openInstance } from '../../src/app/composition/instance.ts'
import { readConfig } from '../../src/app/config/config.ts'
import { SQLITE } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { handshake, keepCertificate, visitSecurely } from '../support/https.ts'
import { random } from '../support/random.ts'
import { startProcess } from '../support/service-process.ts'
import { createTestAuthority } from '../support/test-authority.ts'
import { visit } from '../support/visit.ts'

const HOST = 'go.acme.test'
const PROCESSES = 2
const RENEWALS = 6
const RESTARTS = 2
const VISITORS = 4
const PAUSE_MS_MAX = 20
/** How often a check is repeated, so that it reaches every process, whichever the kernel picks. */
const LOOKS = 12
const RESTART_DEADLINE_MS = 60_000

describe(`HTTPS of ${PROCESSES} processes under load`, () => {
  test('fails no handshake and no request during renewals and restarts, and serves a new certificate soon', {
    timeout: 120_000,
  }, async (t) => {
    const authority = createTestAuthority()
    const ca = authority.certificatePem
    const place = await SQLITE.createMigratedPlace()
    const port = await freePort()
    const internalPort = await freePort()
    const log = pino({ level: 'silent' })
    const instance = await openInstance(readConfig(place.env), log)
    await keepCertificate(instance, HOST, authority.issue(HOST))
    const service = await startProcess(place, {
      TERSE_PROCESSES: String(PROCESSES),
      TERSE_TLS: 'auto',
      TERSE_HTTPS_PORT: String(port),
      TERSE_BASE_URL: `https://${HOST}:${port}`,
      TERSE_INTERNAL_LISTEN: `127.0.0.1:${internalPort}`,
    })
    t.after(async () => {
      await service.stop()
      await instance.close()
      await place.remove()
    })

    const faults: string[] = []
    const agents = [new Agent({ keepAlive: true }), false] as const
    let answered = 0
    let isOver = false
    await eventually(() => visitSecurely(port, HOST, '/missing', { ca }))
    const load = Array.from({ length: VISITORS }, async (_, index) => {
      while (!isOver) {
        try {
          const agent = agents[index % 2]
          const { status } = await visitSecurely(port, HOST, '/missing', { ca, agent })
          if (status === 404) answered += 1
          else faults.push(String(status))
        } catch (error) {
          faults.push(String(error))
        }
        await sleep(random() * PAUSE_MS_MAX)
      }
    })

    async function shown(): Promise<string | undefined> {
      const socket = await handshake(port, HOST, { ca })
      const serial = socket.getPeerX509Certificate()?.serialNumber
      socket.destroy()
      return serial
    }

    let slowestMs = 0
    for (let renewal = 0; renewal < RENEWALS; renewal += 1) {
      const before = await shown()
      await keepCertificate(instance, HOST, authority.issue(HOST))
      const savedMs = performance.now()
      await eventually(async () => {
        const serials = await Promise.all(Array.from({ length: LOOKS }, shown))
        assert.ok(!serials.includes(before), 'the old one is still shown')
      })
      slowestMs = Math.max(slowestMs, performance.now() - savedMs)
    }
    for (let restart = 1; restart <= RESTARTS; restart += 1) {
      service.child.kill('SIGHUP')
      await eventually(async () => {
        assert.equal(service.output().stderr.match(/"restarted"/g)?.length, restart)
      }, RESTART_DEADLINE_MS)
    }
    isOver = true
    await Promise.all(load)
    for (const agent of agents) if (agent !== false) agent.destroy()

    t.diagnostic(
      `${answered} answered; a new certificate was seen after ${Math.round(slowestMs)} ms`,
    )
    assert.deepEqual(faults, [])
    assert.ok(answered > 200, 'there was load')
    const plain = await visit(service.port, '/x', { host: HOST })
    assert.equal(plain.headers.location, `https://${HOST}:${port}/x`)
    const allowed = await visit(internalPort, `/internal/tls/allow?domain=${HOST}`)
    assert.equal(allowed.status, 200)
    assert.doesNotMatch(service.output().stderr, /"level":(40|50|60)/)
  })
})

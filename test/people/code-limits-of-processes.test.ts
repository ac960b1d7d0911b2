import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Secret, TOTP } from 'otpauth'
import { expectStatus, untilServed } from '../support/api.ts'
import { type Place, SQLITE } from '../support/engines.ts'
import { PASSWORD, personClient } from '../support/person-client.ts'
import { type ServiceProcess, startProcess } from '../support/service-process.ts'

/** Processes exchange their counts this often; a busy machine takes longer. */
const EXCHANGE_MS = 250
/** The limit of one process that counts alone. */
const LIMIT = 5
/** Enough that each process is picked more often than its limit. */
const ATTEMPTS = 30
const EMAIL = 'ada@example.com'

describe('wrong codes in a service of two processes', () => {
  let place: Place
  let service: ServiceProcess
  let base: { baseUrl: string }
  const started = new AsyncDisposableStack()
  before(async () => {
    place = await SQLITE.createMigratedPlace()
    started.defer(() => place.remove())
    service = await startProcess(place, {}, { args: ['--processes', '2'] })
    started.defer(() => service.stop().then(() => undefined))
    base = { baseUrl: `http://127.0.0.1:${service.port}` }
  })
  after(() => started.disposeAsync())

  test('are limited by the counts of both, whichever process answers', async () => {
    const ada = personClient(base)
    const code = /\/app\/setup#code=([\w-]{43})/.exec(service.output().stdout)?.[1] ?? ''
    const person = { code, email: EMAIL, name: 'Ada', password: PASSWORD }
    expectStatus(await untilServed(() => ada.post('/setup', person)), 201)
    const { body } = expectStatus(await ada.post('/me/totp'), 201)
    const totp = new TOTP({ secret: Secret.fromBase32(body.secret) })
    expectStatus(await ada.put('/me/totp', { code: totp.generate() }), 200)

    // Each request is a connection of its own, which the kernel gives to either process.
    const statuses: number[] = []
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const given = { email: EMAIL, password: PASSWORD, code: 'abc123' }
      const { status } = await untilServed(() => personClient(base).post('/session', given))
      statuses.push(status)
      if (status === 401) await sleep(EXCHANGE_MS)
    }
    assert.deepEqual(new Set(statuses), new Set([401, 429]))
    const wrong = statuses.filter((status) => status === 401).length
    // On a busy machine a process learns late of what the other one has counted.
    assert.ok(wrong >= LIMIT && wrong < 2 * LIMIT, `${statuses}`)
  })
})

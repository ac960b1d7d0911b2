import assert from 'node:assert/strict'
import { Agent, type ClientRequest, request } from 'node:http'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { apiClient, expectStatus } from '../support/api.ts'
import { SQLITE } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { formSetting } from '../support/long-form.ts'
import { makeToken } from '../support/make-instance.ts'
import { random } from '../support/random.ts'
import { startProcess } from '../support/service-process.ts'
import { BROWSER } from '../support/visit.ts'

const ROUNDS = formSetting('FAULT_ROUNDS')
const CLIENTS = 50
/**
 * The longest pause of a connection, shorter than a stopping service keeps idle connections open.
 */
const PAUSE_MS_MAX = 30
const TIMEOUT_MS = 60_000 + ROUNDS * 30_000

type Tally = { answered: number; reset: number }

/**
 * Visits on one connection, one after the other, until a visit fails or the connection is closed.
 */
async function visitOnKeptConnection(port: number, tally: Tally): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  for (;;) {
    const outcome = await visitOnce(agent, port)
    if (outcome === 'reset') tally.reset += 1
    if (outcome !== 'answered') break
    tally.answered += 1
    await sleep(random() * PAUSE_MS_MAX)
  }
  agent.destroy()
}

/** `refused`: the connection was closed before the request could be sent. */
function visitOnce(agent: Agent, port: number): Promise<'answered' | 'reset' | 'refused'> {
  return new Promise((resolve) => {
    const headers = { host: 'localhost', 'user-agent': BROWSER }
    const outgoing: ClientRequest = request(
      { host: '127.0.0.1', port, path: '/stopped', agent, headers },
      (response) => {
        response.on('close', () => resolve(response.complete ? 'answered' : 'reset'))
        response.resume()
      },
    )
    outgoing.on('error', () => resolve(outgoing.reusedSocket ? 'reset' : 'refused'))
    outgoing.end()
  })
}

describe(`a service that stops while ${CLIENTS} clients keep their connections open`, () => {
  for (const processes of [1, 2]) {
    test(`resets no request, with ${processes} processes`, {
      timeout: TIMEOUT_MS,
    }, async (t) => {
      const place = await SQLITE.createMigratedPlace()
      t.after(() => place.remove())
      const token = await makeToken(place.env)
      for (let round = 0; round < ROUNDS; round += 1) {
        const service = await startProcess(place, { TERSE_PROCESSES: String(processes) })
        const api = apiClient(`http://127.0.0.1:${service.port}`, token)
        const link = { domain: 'localhost', key: 'stopped', url: 'https://example.com/' }
        if (round === 0) expectStatus(await api.post('/links', link), 201)
        const tally: Tally = { answered: 0, reset: 0 }
        const clients = Array.from({ length: CLIENTS }, () =>
          visitOnKeptConnection(service.port, tally),
        )
        await eventually(async () => assert.ok(tally.answered > 10 * CLIENTS))
        assert.equal(await service.stop(), 0)
        await Promise.all(clients)
        t.diagnostic(`${tally.answered} answered, ${tally.reset} reset`)
        assert.equal(tally.reset, 0)
      }
    })
  }
})

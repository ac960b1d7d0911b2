import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { apiClient, expectStatus } from '../support/api.ts'
import { createFolder, ENGINES, type Place } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { makeToken } from '../support/make-instance.ts'
import { type ServiceProcess, startProcess } from '../support/service-process.ts'
import { BROWSER } from '../support/visit.ts'

const NODES = 3
const CONNECTIONS = 64
const LIMIT = 1_000
/** Longer than the takeover of a journal by another process of its folder takes. */
const SETTLED_WITHIN_MS = 90_000

type Outcome = 302 | 410 | 503 | 'cut off'

/** Visitors who go on until they are stopped, each on a connection of its own, to the nodes in turn. */
class Crowd {
  readonly counts = new Map<Outcome, number>()
  readonly #path: string
  readonly #ports: () => readonly number[]
  readonly #agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  #isStopped = false
  readonly #ended: Promise<unknown>

  constructor(path: string, ports: () => readonly number[]) {
    this.#path = path
    this.#ports = ports
    const visitors = Array.from({ length: CONNECTIONS }, (_, nth) => this.#visitAgain(nth))
    this.#ended = Promise.all(visitors)
  }

  count(outcome: Outcome): number {
    return this.counts.get(outcome) ?? 0
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#ended
    this.#agent.destroy()
  }

  async #visitAgain(visitor: number): Promise<void> {
    for (let visit = visitor; !this.#isStopped; visit += 1) {
      const ports = this.#ports()
      const outcome = await this.#visit(ports[visit % ports.length] ?? 0)
      this.counts.set(outcome, this.count(outcome) + 1)
      if (outcome === 'cut off') await sleep(20)
    }
  }

  #visit(port: number): Promise<Outcome> {
    return new Promise((resolve) => {
      const headers = { host: 'localhost', 'user-agent': BROWSER }
      const options = { host: '127.0.0.1', port, path: this.#path, agent: this.#agent, headers }
      request(options, (response) => {
        response.on('error', () => resolve('cut off'))
        response.on('close', () =>
          resolve(response.complete ? (response.statusCode as Outcome) : 'cut off'),
        )
        response.resume()
      })
        .on('error', () => resolve('cut off'))
        .end()
    })
  }
}

/** Waits until every node answers that the link is used up. */
async function expectUsedUp(crowd: Crowd): Promise<void> {
  await eventually(async () => {
    const before = crowd.count(410)
    await sleep(200)
    assert.ok(crowd.count(410) - before > NODES * CONNECTIONS)
    assert.equal(crowd.count(503), 0)
  }, SETTLED_WITHIN_MS)
}

for (const engine of ENGINES) {
  describe(`a link with max_clicks on ${NODES} processes, on ${engine.title}`, () => {
    let place: Place
    let token: string
    let nodes: ServiceProcess[] = []
    const folders: string[] = []
    // The same for all data folders.
    const settings = { TERSE_SECRET_KEY: randomBytes(32).toString('hex') }

    /** With PostgreSQL each process has a data folder of its own, as on a machine of its own. */
    async function startOne(nth: number): Promise<ServiceProcess> {
      if (place.databaseUrl === undefined) return startProcess(place, settings)
      folders[nth] ??= createFolder()
      return startProcess(place, { ...settings, TERSE_DATA_DIR: folders[nth] as string })
    }

    before(async () => {
      place = await engine.createMigratedPlace()
      token = await makeToken({ ...place.env, ...settings })
      // One after the other, as they share the machine.
      for (let nth = 0; nth < NODES; nth += 1) nodes.push(await startOne(nth))
    })
    after(async () => {
      await Promise.all(nodes.map((node) => node.kill()))
      await place.remove()
      for (const folder of folders) rmSync(folder, { recursive: true, force: true })
    })

    const api = () => apiClient(`http://127.0.0.1:${nodes[0]?.port}`, token)

    async function createLink(key: string): Promise<string> {
      const body = { domain: 'localhost', key, url: 'https://example.com/', max_clicks: LIMIT }
      return expectStatus(await api().post('/links', body), 201).body.id
    }

    const clicksOf = async (id: string): Promise<number> =>
      expectStatus(await api().get(`/links/${id}`), 200).body.clicks

    test(`lets ${LIMIT} of ${CONNECTIONS} connections' visits through, and counts them`, async (t) => {
      const id = await createLink('exact')
      const crowd = new Crowd('/exact', () => nodes.map(({ port }) => port))
      await expectUsedUp(crowd)
      await crowd.stop()
      t.diagnostic(JSON.stringify(Object.fromEntries(crowd.counts)))
      assert.equal(crowd.count(302), LIMIT)
      assert.equal(crowd.count('cut off'), 0)
      await eventually(async () => assert.equal(await clicksOf(id), LIMIT))
    })

    test('counts exactly as many when a node is killed meanwhile', async (t) => {
      const id = await createLink('killed')
      const crowd = new Crowd('/killed', () => nodes.slice(0, NODES - 1).map(({ port }) => port))
      const killed = nodes.at(-1) as ServiceProcess
      const unlucky = new Crowd('/killed', () => [killed.port])
      await eventually(async () => assert.ok(unlucky.count(302) > 0))
      await killed.kill()
      const cutOff = unlucky.count('cut off')
      await unlucky.stop()
      // What it held returns once its journal is ingested: by its next start here.
      nodes = [...nodes.slice(0, -1), await startOne(NODES - 1)]
      await eventually(async () => assert.equal(await clicksOf(id), LIMIT), SETTLED_WITHIN_MS)
      const answered = () => crowd.count(302) + unlucky.count(302)
      await eventually(async () => {
        const before = crowd.count(410)
        await sleep(200)
        assert.ok(crowd.count(410) > before)
      }, SETTLED_WITHIN_MS)
      await crowd.stop()
      t.diagnostic(
        `${answered()} answered, ${unlucky.count('cut off')} cut off (${cutOff} at the kill), ${crowd.count(503)} asked to wait`,
      )
      assert.ok(answered() <= LIMIT, `${answered()} answered`)
      // Those were journalled before the kill, and cut off before their answer.
      assert.ok(answered() + unlucky.count('cut off') >= LIMIT)
      assert.ok(answered() >= LIMIT - CONNECTIONS, `${answered()} answered`)
      assert.equal(await clicksOf(id), LIMIT)
    })
  })
}

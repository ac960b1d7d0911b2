import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { pino } from 'pino'
import { openInstance } from '../../src/app/composition/instance.ts'
import { readConfig } from '../../src/app/config/config.ts'
import { startNode } from '../../src/app/node/node.ts'
import { createTestLink, type TestLink } from '../clicks/test-link.ts'
import { openWriterAt, takeClicks } from '../support/click-writers.ts'
import { someClick } from '../support/clicks.ts'
import { type Place, SQLITE } from '../support/engines.ts'
import { freePort } from '../support/free-port.ts'
import { NO_DNS } from '../support/no-dns.ts'
import { rawClicksOf } from '../support/raw-clicks.ts'
import { runCli } from '../support/run-cli.ts'
import { type Service, startService } from '../support/service.ts'
import { startProcess } from '../support/service-process.ts'
import { visit } from '../support/visit.ts'

const YEARS_AGO = Date.UTC(2023, 1, 1) * 1_000

/** The answers of a node with these roles. */
const NODES = [
  { roles: 'redirect', visits: 404, api: 404, ready: ['redirect'] },
  { roles: 'api', visits: 421, api: 401, ready: ['api'] },
  { roles: 'jobs', visits: 421, api: 404, ready: ['jobs'] },
  { roles: 'api,redirect', visits: 404, api: 401, ready: ['redirect', 'api'] },
] as const

async function expectRoles(port: number, node: (typeof NODES)[number]): Promise<void> {
  for (const method of ['GET', 'POST']) {
    const path = '/nobody'
    assert.equal((await visit(port, path, { method, body: 'password=x' })).status, node.visits)
  }
  assert.equal((await visit(port, '/api/v1/links')).status, node.api)
  assert.equal((await visit(port, '/livez')).status, 200)
  const ready = await visit(port, '/readyz')
  assert.equal(ready.status, 200)
  assert.deepEqual(Object.keys(JSON.parse(ready.body).roles), node.ready)
}

describe('the roles of a node', () => {
  for (const node of NODES) {
    describe(`with ${node.roles}`, () => {
      let service: Service
      before(async () => {
        service = await startService(SQLITE, { TERSE_ROLES: node.roles })
      })
      after(() => service.stop())
      test('decide what it answers', () => expectRoles(service.port, node))
    })
  }

  test('restrict the deletion of old data to nodes with jobs', async (t) => {
    const place = await SQLITE.createMigratedPlace()
    t.after(() => place.remove())

    /** Returns the raw clicks that are left after a node has run. */
    async function leftBy(roles: string): Promise<number> {
      const config = readConfig({
        ...place.env,
        TERSE_PORT: String(await freePort()),
        TERSE_HOST: '127.0.0.1',
        TERSE_DNS_SERVERS: NO_DNS,
        TERSE_ROLES: roles,
      })
      const log = pino({ level: 'silent' })
      const instance = await openInstance(config, log)
      const node = await startNode(config, instance, log)
      await node.stop()
      try {
        link ??= await createTestLink(instance.store, instance.clock)
        return (await rawClicksOf(instance.store, link.scope)).length
      } finally {
        await instance.close()
      }
    }

    let link: TestLink | undefined
    assert.equal(await leftBy('jobs'), 0)
    const writer = await openWriterAt(place)
    await takeClicks(writer, [someClick({ at: YEARS_AGO, link_seq: link?.seq ?? 0 })])
    await writer.close()
    assert.equal(await leftBy('redirect,api'), 1)
    assert.equal(await leftBy('jobs'), 0)
  })

  describe('on the command line', () => {
    let place: Place
    before(async () => {
      place = await SQLITE.createMigratedPlace()
    })
    after(() => place.remove())

    test('override the setting, and apply to every process', async () => {
      const settings = { TERSE_ROLES: 'redirect', TERSE_PROCESSES: '2' }
      const service = await startProcess(place, settings, { args: ['--roles', 'api'] })
      try {
        // Enough connections to reach both processes.
        for (let time = 0; time < 8; time += 1) await expectRoles(service.port, NODES[1])
      } finally {
        await service.stop()
      }
    })

    test('are rejected when unknown', async () => {
      const { code, stderr } = await runCli(['serve', '--roles', 'api,cron'], place.env)
      assert.equal(code, 5)
      assert.match(stderr, /must name some of redirect, api, jobs/)
    })
  })
})

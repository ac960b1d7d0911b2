import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Place, SQLITE } from '../support/engines.ts'
import { runCli } from '../support/run-cli.ts'
import { type Service, startService } from '../support/service.ts'
import { startProcess } from '../support/service-process.ts'
import { visit } from '../support/visit.ts'

/** What a node answers that has these roles. */
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
    describe(`that has ${node.roles}`, () => {
      let service: Service
      before(async () => {
        service = await startService(SQLITE, { TERSE_ROLES: node.roles })
      })
      after(() => service.stop())
      test('are those that it answers for', () => expectRoles(service.port, node))
    })
  }

  describe('on the command line', () => {
    let place: Place
    before(async () => {
      place = await SQLITE.createPlace()
    })
    after(() => place.remove())

    test('go before the setting, and are those of each of its processes', async () => {
      const settings = { TERSE_ROLES: 'redirect', TERSE_PROCESSES: '2' }
      const service = await startProcess(place, settings, { args: ['--roles', 'api'] })
      try {
        // Enough connections for both.
        for (let time = 0; time < 8; time += 1) await expectRoles(service.port, NODES[1])
      } finally {
        await service.stop()
      }
    })

    test('that nobody knows are refused', async () => {
      const { code, stderr } = await runCli(['serve', '--roles', 'api,cron'], place.env)
      assert.equal(code, 1)
      assert.match(stderr, /must name some of redirect, api, jobs/)
    })
  })
})

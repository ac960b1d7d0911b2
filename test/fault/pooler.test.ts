import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Api, expectStatus, untilServed } from '../support/api.ts'
import { ENGINES } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { startPgBouncer } from '../support/pgbouncer.ts'
import { skipWithout } from '../support/programs.ts'
import { visit } from '../support/visit.ts'
import { type Cluster, startCluster } from './cluster.ts'

const EDITS = 10
const WANTED = 20

const skip = skipWithout('pgbouncer')

for (const engine of ENGINES.filter(({ name }) => name === 'PostgreSQL')) {
  describe('two nodes behind PgBouncer in transaction mode', { skip }, () => {
    let cluster: Cluster
    let apis: Api[]
    let followed = 0
    const started = new AsyncDisposableStack()
    before(async () => {
      const place = await engine.createPlace()
      started.defer(() => place.remove())
      const pooler = await startPgBouncer(String(place.databaseUrl))
      started.defer(() => pooler.stop())
      cluster = await startCluster(2, pooler.url)
      started.defer(() => cluster.stop())
      const token = await cluster.token('acme')
      apis = cluster.nodes.map((node) => node.api(token))
    })
    after(() => started.disposeAsync())

    async function follow(port: number): Promise<string | undefined> {
      const { status, headers } = await visit(port, '/edited')
      if (status === 302) followed += 1
      return headers.location
    }

    test('read each other’s changes, and count every click once', async () => {
      const [api] = apis
      assert.ok(api)
      const link = { domain: 'localhost', key: 'edited', url: 'https://example.com/' }
      const once = { 'idempotency-key': 'edited' }
      const made = await untilServed(() => api.post('/links', link, once))
      const { id } = expectStatus(made, 201).body
      for (let edit = 0; edit < EDITS; edit += 1) {
        const url = `https://example.com/${edit}`
        const editor = apis[edit % apis.length] ?? api
        expectStatus(await untilServed(() => editor.patch(`/links/${id}`, { url })), 200)
        for (const { port } of cluster.nodes) {
          await eventually(async () => assert.equal(await follow(port), url))
        }
      }
      await eventually(async () => {
        const shown = await Promise.all(apis.map((node) => node.get(`/links/${id}`)))
        for (const { body } of shown) assert.equal(body.clicks, followed)
      })
    })

    test('give a key to one of two concurrent requests', async () => {
      const wanted = Array.from({ length: WANTED }, (_, index) => `wanted-${index}`)
      for (const key of wanted) {
        const link = { domain: 'localhost', key, url: 'https://example.com/' }
        const answers = await Promise.all(
          apis.map((node, index) => {
            const once = { 'idempotency-key': `${key}-${index}` }
            return untilServed(() => node.post('/links', link, once))
          }),
        )
        assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 422])
      }
    })
  })
}

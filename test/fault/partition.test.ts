import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Api, apiClient } from '../support/api.ts'
import { SQLITE } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { formSetting } from '../support/long-form.ts'
import { createNetworkNamespace, TEST_NETWORK } from '../support/network-namespace.ts'
import { createPostgres, type PostgresServer } from '../support/postgres-server.ts'
import { random, SEED } from '../support/random.ts'
import { startProcess } from '../support/service-process.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'
import { visit } from '../support/visit.ts'
import { type Cluster, startCluster } from './cluster.ts'
import type { Crowd } from './crowd.ts'
import { expectRecovered, expectUnavailable } from './database-reach.ts'
import type { Editor } from './editor.ts'
import { EDITED, KNOWN, startTraffic } from './traffic.ts'
import { makeWarmLinks, type WarmLinks } from './warm-links.ts'

const ROUNDS = formSetting('FAULT_ROUNDS')
const VISITORS = formSetting('FAULT_VISITORS')
const NEAR_NODES = 3
const FAR_NODES = 2
/** Longer than any time-out of a node, so that it has closed its connections. */
const CUT_OFF_MS = 6_000

/** A node in its own process, whose network to the database can fail. */
type FarNode = {
  readonly port: number
  readonly how: string
  cut(): void
  mend(): void
}

/**
 * Starts a node in a network namespace where the machine allows it, else with a proxy to the
 * database.
 * @param started receives the clean-up of everything that this starts
 */
async function startFarNode(
  server: PostgresServer,
  secretKey: string,
  started: AsyncDisposableStack,
): Promise<FarNode> {
  const place = await SQLITE.createPlace()
  started.defer(() => place.remove())
  const url = new URL(server.url('terse'))

  async function startBehind(host: string, within: readonly string[] = []): Promise<number> {
    const settings = {
      TERSE_HOST: host,
      TERSE_BASE_URL: 'http://localhost',
      TERSE_DATABASE_URL: url.href,
      TERSE_SECRET_KEY: secretKey,
      TERSE_STOP_DELAY_SECONDS: '0',
    }
    const node = await startProcess(place, settings, { within })
    started.defer(async () => void (await node.stop()))
    return node.port
  }

  const namespace = createNetworkNamespace(2)
  if (namespace !== undefined) started.defer(() => namespace.remove())
  const [visitors, database] = namespace?.wires ?? []
  if (namespace !== undefined && visitors !== undefined && database !== undefined) {
    url.hostname = database.addressOutside
    const host = visitors.addressInside
    const way = await startTcpProxy({ host, port: await startBehind(host, namespace.command) })
    started.defer(() => way.close())
    const { cut, mend } = database
    return { port: way.port, how: 'in network namespaces', cut, mend }
  }
  const way = await startTcpProxy({ host: url.hostname, port: Number(url.port) })
  started.defer(() => way.close())
  url.port = String(way.port)
  const port = await startBehind('127.0.0.1')
  const how = 'by a proxy, for want of network namespaces'
  return { port, how, cut: way.hold, mend: way.mend }
}

describe('two of five nodes, cut off from PostgreSQL', {
  timeout: 300_000 + ROUNDS * 300_000,
}, () => {
  let server: PostgresServer
  let cluster: Cluster
  let far: (FarNode & { readonly api: Api })[]
  let crowd: Crowd
  let editors: readonly Editor[]
  let links: WarmLinks

  const started = new AsyncDisposableStack()
  before(async () => {
    server = await createPostgres({ listen_addresses: '*' })
    started.defer(() => server.remove())
    server.letIn(TEST_NETWORK)
    await server.start()
    await server.query('create database terse')
    const secretKey = randomBytes(32).toString('hex')
    const settings = { TERSE_SECRET_KEY: secretKey }
    cluster = await startCluster(NEAR_NODES, server.url('terse'), settings)
    started.defer(() => cluster.stop())
    const token = await cluster.token('acme')
    far = await Promise.all(
      Array.from({ length: FAR_NODES }, async () => {
        const node = await startFarNode(server, secretKey, started)
        return { ...node, api: apiClient(`http://127.0.0.1:${node.port}`, token) }
      }),
    )
    const nodes = [...cluster.nodes, ...far]
    const apis = cluster.nodes.map((node) => node.api(token))
    const [api] = apis
    assert.ok(api)
    links = await makeWarmLinks(api, nodes, [...KNOWN, ...EDITED])
    const options = { links, visitors: VISITORS, random, started }
    ;({ crowd, editors } = startTraffic({ nodes, apis, ...options }))
  })
  after(() => started.disposeAsync())

  async function expectApart(): Promise<void> {
    for (const { api, ...node } of far) {
      await expectUnavailable(node, api, links.ids.get('known-1') ?? '')
      assert.equal((await visit(node.port, '/readyz?role=redirect')).status, 200)
      assert.equal((await visit(node.port, '/readyz?role=api')).status, 503)
    }
  }

  async function expectTogether(): Promise<void> {
    for (const { api, ...node } of far) await expectRecovered(node, api)
  }

  test("redirect to cached links, and to the others' changes within 5 s after the cut", async (t) => {
    t.diagnostic(`FUZZ_SEED=${SEED}, ${far.map(({ how }) => how).join(', ')}`)
    await expectTogether()
    crowd.takeTally()
    for (let round = 0; round < ROUNDS; round += 1) {
      const heal = crowd.partition(far)
      for (const node of far) node.cut()
      try {
        await sleep(CUT_OFF_MS / 2)
        await eventually(expectApart)
        await sleep(CUT_OFF_MS / 2)
      } finally {
        for (const node of far) node.mend()
        heal()
      }
      await expectTogether()
      // Visitors continue until the time limit for changes made during the cut has passed.
      await sleep(CUT_OFF_MS)
    }
    const { requests, failed, longestMs, longestChangingMs } = crowd.takeTally()
    const apiMs = Math.max(...editors.map((editor) => editor.longestMs))
    t.diagnostic(
      `| two nodes cut off for ${CUT_OFF_MS / 1_000} s, ${far[0]?.how} | ${ROUNDS} | ${VISITORS} visitors, ${NEAR_NODES + FAR_NODES} nodes | ${requests} | ${failed} | ${Math.round(longestMs)} ms; ${Math.round(longestChangingMs)} ms; API ${Math.round(apiMs)} ms |`,
    )
    assert.deepEqual(crowd.faults.splice(0), [])
    assert.ok(requests > 0, 'there was load')
  })

  test('count every redirect of all nodes once', async (t) => {
    for (const editor of editors) await editor.stop()
    await crowd.stop()
    const answered = crowd.redirects.values().reduce((sum, count) => sum + count, 0)
    await eventually(async () => {
      const [row] = await server.query('select count(*)::integer as clicks from clicks', 'terse')
      assert.equal(row?.clicks, answered)
    })
    t.diagnostic(`${answered} redirects, all counted`)
  })
})

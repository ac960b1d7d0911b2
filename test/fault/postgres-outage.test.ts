import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Api, expectStatus } from '../support/api.ts'
import { eventually } from '../support/eventually.ts'
import { formSetting } from '../support/long-form.ts'
import {
  createPostgres,
  type PostgresServer,
  replicateSynchronously,
} from '../support/postgres-server.ts'
import { random } from '../support/random.ts'
import { visit } from '../support/visit.ts'
import { type Cluster, type ClusterNode, startCluster } from './cluster.ts'
import type { Crowd } from './crowd.ts'
import { API_MS_MAX, expectRecovered, expectUnavailable } from './database-reach.ts'
import type { Editor } from './editor.ts'
import { EDITED, KNOWN, startTraffic } from './traffic.ts'
import { makeWarmLinks, type WarmLinks } from './warm-links.ts'

const ROUNDS = formSetting('FAULT_ROUNDS')
const NODES = formSetting('FAULT_NODES')
const VISITORS = formSetting('FAULT_VISITORS')
/**
 * The key of a link that changes after each fault, to check that every node has read the change.
 */
const CANARY = 'canary'
/** How long each fault lasts. */
const FAULT_MS = 800
/** Long enough for some connections to open again before they are terminated again. */
const RECONNECTED_MS = 100
const CONTENDED_KEYS = 2 * ROUNDS
const ID = /[0-9a-f]{8}-[0-9a-f]{4}-/

/** A fault of the database, and how it is repaired. */
type Fault = {
  readonly name: string
  /** Whether no node can query the database during the fault. */
  readonly isUnreachable: boolean
  /** Whether the server loses what it had not written. */
  readonly isCrash?: true
  /** Whether it cannot be inflicted again. */
  readonly isFinal?: true
  begin(): Promise<() => Promise<void> | void>
}

describe('PostgreSQL', { timeout: 300_000 + ROUNDS * 300_000 }, () => {
  let server: PostgresServer
  let standby: PostgresServer | undefined
  let cluster: Cluster
  let crowd: Crowd
  let editors: readonly Editor[]
  let apis: Api[]
  let links: WarmLinks
  /** Visits to links for which two workspaces competed. */
  let contendedVisits = 0

  const started = new AsyncDisposableStack()
  before(async () => {
    server = await createPostgres()
    started.defer(() => server.remove())
    started.defer(() => standby?.remove())
    await server.start()
    await server.query('create database terse')
    cluster = await startCluster(NODES, server.url('terse'))
    started.defer(() => cluster.stop())
    const token = await cluster.token('acme')
    apis = cluster.nodes.map((node) => node.api(token))
    const [api] = apis
    assert.ok(api)
    links = await makeWarmLinks(api, cluster.nodes, [...KNOWN, ...EDITED, CANARY])
    const { nodes } = cluster
    const options = { links, visitors: VISITORS, random, started }
    ;({ crowd, editors } = startTraffic({ nodes, apis, ...options }))
    await expectAllRecovered()
  })
  after(() => started.disposeAsync())

  /** Each node with its API client. */
  function served(): [ClusterNode, Api][] {
    return cluster.nodes.map((node, index) => [node, apis[index] ?? assert.fail()])
  }

  async function expectAllUnavailable(): Promise<void> {
    const id = links.ids.get('known-1') ?? ''
    await Promise.all(served().map(([node, api]) => expectUnavailable(node, api, id)))
  }

  async function expectAllRecovered(): Promise<void> {
    await Promise.all(served().map(([node, api]) => expectRecovered(node, api)))
    await expectAllReading()
  }

  /** Expects that every node reads the change log again, and has cached again what it dropped. */
  async function expectAllReading(): Promise<void> {
    const url = `https://example.com/${randomUUID()}`
    const path = `/links/${links.ids.get(CANARY)}`
    await eventually(async () =>
      expectStatus((await apis[0]?.patch(path, { url })) ?? assert.fail(), 200),
    )
    await Promise.all(
      cluster.nodes.map(async ({ port }) => {
        await eventually(async () => assert.equal(await follow(port, CANARY), url))
        for (const key of KNOWN) await follow(port, key)
      }),
    )
  }

  async function follow(port: number, key: string): Promise<string | undefined> {
    const { location } = (await visit(port, `/${key}`)).headers
    if (location !== undefined) crowd.redirects.set(key, (crowd.redirects.get(key) ?? 0) + 1)
    return location
  }

  /** Two workspaces request the same keys on the same hosts, through all nodes at the same time. */
  async function contend(): Promise<void> {
    const workspaces = await Promise.all(
      ['red', 'blue'].map(async (name) => {
        const token = await cluster.token(name)
        return cluster.nodes.map((node) => node.api(token))
      }),
    )
    for (let round = 0; round < CONTENDED_KEYS; round += 1) {
      const key = `contended-${round}`
      for (const domain of ['localhost', `contended-${round}.localhost`]) {
        const tries = workspaces.flatMap((nodes, workspace) =>
          nodes.map(async (api) => {
            const link = { domain, key, url: `https://example.com/${workspace}` }
            const once = { 'idempotency-key': randomUUID() }
            for (;;) {
              const answer = await api.post('/links', link, once)
              // Under too much contention for too long, a request is answered 503 and has to be
              // repeated.
              if (answer.status !== 503) return { workspace, answer }
            }
          }),
        )
        const made = (await Promise.all(tries)).filter(({ answer }) => {
          if (answer.status === 201) return true
          assert.equal(answer.status, 422, JSON.stringify(answer.body))
          const { request_id, ...shown } = answer.body
          assert.doesNotMatch(JSON.stringify(shown), ID, 'contains a foreign id')
          return false
        })
        // On another host both may have the key, until one of them has proved the host.
        const winners = new Set(made.map(({ workspace }) => workspace))
        assert.equal(winners.size, made.length, 'each workspace creates one link')
        if (domain === 'localhost') assert.equal(made.length, 1)
        for (const { workspace, answer } of made) {
          const statuses = workspaces.map((_, other) => (other === workspace ? 200 : 404))
          await eventually(async () => {
            const shown = await Promise.all(
              workspaces.map((apis) => apis[round % NODES]?.get(`/links/${answer.body.id}`)),
            )
            assert.deepEqual(
              shown.map((one) => one?.status),
              statuses,
            )
          })
        }
        const led = await Promise.all(
          cluster.nodes.map(async ({ port }) => {
            const { headers } = await eventually(async () => {
              const answer = await visit(port, `/${key}`, { host: domain })
              assert.equal(answer.status, 302)
              return answer
            })
            contendedVisits += 1
            return headers.location
          }),
        )
        assert.equal(new Set(led).size, 1, `all nodes lead to one: ${led}`)
        assert.ok(winners.has(Number(led[0]?.at(-1))), `${led[0]} was made`)
      }
    }
    const active = await Promise.all(
      workspaces.map(async ([api]) => {
        const { body } = await eventually(async () =>
          expectStatus((await api?.get('/domains?per_page=100')) ?? assert.fail(), 200),
        )
        return body.data.filter((domain: { status: string }) => domain.status === 'active').length
      }),
    )
    assert.equal(active[0] + active[1], CONTENDED_KEYS, 'each host is active once')
  }

  /** Every redirect is counted once. */
  async function expectCounted(): Promise<void> {
    await crowd.stop()
    for (const editor of editors) await editor.stop()
    const answered = crowd.redirects.values().reduce((sum, count) => sum + count, contendedVisits)
    const database = standby ?? server
    await eventually(async () => {
      const counted = 'select count(*)::integer as clicks from clicks'
      assert.equal((await database.query(counted, 'terse'))[0]?.clicks, answered)
    })
    for (const key of KNOWN) {
      const path = `/links/${links.ids.get(key)}`
      const { body } = await eventually(async () =>
        expectStatus((await apis[0]?.get(path)) ?? assert.fail(), 200),
      )
      assert.equal(body.clicks, crowd.redirects.get(key), key)
    }
  }

  /** The crash marker in a cursor of the change log. A statement may be too late under load. */
  function uncrashedSince(): Promise<string | undefined> {
    const { changes } = cluster.nodes[0]?.instance.store.read ?? assert.fail()
    return eventually(async () => (await changes.end()).split(' ')[1])
  }

  const everywhere = () => cluster.nodes
  // An interruption makes nodes query again what changed within the last seconds, so the faults
  // without an interruption come first.
  const faults: readonly Fault[] = [
    {
      name: 'slowed by 0.2 s each way',
      isUnreachable: false,
      async begin() {
        for (const { network } of everywhere()) network.slow(200)
        return () => {
          for (const { network } of everywhere()) network.mend()
        }
      },
    },
    {
      name: 'with every connection terminated, five times',
      isUnreachable: false,
      async begin() {
        for (let time = 0; time < 5; time += 1) {
          await server.query(`select pg_terminate_backend(pid) from pg_stat_activity
            where application_name = 'terse'`)
          await sleep(RECONNECTED_MS)
        }
        return () => {}
      },
    },
    {
      name: 'unreachable from one node, while another makes changes',
      isUnreachable: false,
      async begin() {
        cluster.nodes[0]?.network.hold()
        await sleep(3 * FAULT_MS)
        return () => cluster.nodes[0]?.network.mend()
      },
    },
    {
      name: 'stopped and started',
      isUnreachable: true,
      async begin() {
        await server.stop()
        return () => server.start()
      },
    },
    {
      name: 'killed with SIGKILL and started',
      isUnreachable: true,
      isCrash: true,
      async begin() {
        await server.crash()
        return () => server.start()
      },
    },
    {
      name: 'frozen, with all of its processes',
      isUnreachable: true,
      begin: () => server.freeze('everything'),
    },
    {
      name: 'frozen, with the processes of its clients only',
      isUnreachable: false,
      begin: () => server.freeze('backends'),
    },
    {
      name: 'slowed by 3 s each way',
      isUnreachable: true,
      async begin() {
        for (const { network } of everywhere()) network.slow(3_000)
        return () => {
          for (const { network } of everywhere()) network.mend()
        }
      },
    },
    {
      name: 'replaced by its standby',
      isUnreachable: true,
      isCrash: true,
      isFinal: true,
      async begin() {
        standby = await server.standby()
        await standby.start()
        await replicateSynchronously(server)
        // What it receives from here on, it does not show before it is promoted.
        await standby.query('select pg_wal_replay_pause()')
        await sleep(FAULT_MS)
        await server.crash()
        const { port } = standby
        for (const { network } of everywhere()) network.leadTo({ host: '127.0.0.1', port })
        return async () => {
          await standby?.query('select pg_promote()')
        }
      },
    },
  ]

  for (const { name, isUnreachable, isCrash = false, isFinal = false, begin } of faults) {
    test(`${name}: cached links redirect, other keys get 503, and no stale answer exceeds its time limit`, async (t) => {
      const rounds = isFinal ? 1 : ROUNDS
      crowd.takeTally()
      const before = await uncrashedSince()
      for (const editor of editors) editor.longestMs = 0
      for (let round = 0; round < rounds; round += 1) {
        const heal = crowd.partition(cluster.nodes)
        const mend = await begin()
        try {
          await sleep(FAULT_MS)
          if (isUnreachable) {
            await eventually(expectAllUnavailable)
            await expectAllUnavailable()
          }
        } finally {
          await mend()
          heal()
        }
        await expectAllRecovered()
      }
      assert.equal(
        (await uncrashedSince()) !== before,
        isCrash,
        'readers detect a crash, and nothing else',
      )
      const { requests, failed, longestMs, longestChangingMs } = crowd.takeTally()
      const api = Math.max(...editors.map((editor) => editor.longestMs))
      t.diagnostic(
        `| ${name} | ${rounds} | ${VISITORS} visitors, ${NODES} nodes | ${requests} | ${failed} | ${Math.round(longestMs)} ms; ${Math.round(longestChangingMs)} ms; API ${Math.round(api)} ms |`,
      )
      assert.deepEqual(crowd.faults.splice(0), [])
      assert.ok(api < API_MS_MAX, `the API took ${api} ms`)
      assert.ok(requests > 0, 'there was load')
    })
  }

  test('under contention of two workspaces: one of them gets a key of a host, and the other learns nothing', async () => {
    // The queries of many visits then take longer than they may.
    const heal = crowd.partition(cluster.nodes)
    await contend()
    heal()
    await expectAllRecovered()
  })

  test('after all faults: every redirect is counted once', async (t) => {
    await expectCounted()
    assert.deepEqual(crowd.faults, [])
    const answered = crowd.redirects.values().reduce((sum, count) => sum + count, 0)
    const edits = editors.reduce((sum, editor) => sum + editor.edits, 0)
    t.diagnostic(`${answered} redirects, all counted; ${edits} edits`)
    assert.ok(edits > 10)
  })
})

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { type Api, apiClient, expectStatus, untilServed } from '../support/api.ts'
import { createFolder, type Place } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import {
  createPostgres,
  type PostgresServer,
  replicateSynchronously,
} from '../support/postgres-server.ts'
import { runCommand } from '../support/run-command.ts'
import { type ServiceProcess, startProcess } from '../support/service-process.ts'
import { visit } from '../support/visit.ts'

const KEY = randomBytes(32).toString('hex')
const DESTINATION = 'https://example.com/'

describe('a failover between two servers that TERSE_DATABASE_URL names', {
  timeout: 300_000,
}, () => {
  /** The primary at first, and its standby. */
  let one: PostgresServer
  let two: PostgresServer
  let token: string
  let nodes: ServiceProcess[]
  let apis: Api[]
  let redirects = 0

  const started = new AsyncDisposableStack()
  before(async () => {
    one = await createPostgres()
    started.defer(() => one.remove())
    await one.start()
    await one.query('create database terse')
    two = await one.standby()
    started.defer(() => two.remove())
    await two.start()
    await replicateSynchronously(one)
    nodes = [await startNode([one, two]), await startNode([two, one])]
    const { code, stdout, stderr } = await runCommand(
      ['token', 'create', '--workspace', 'acme'],
      placeWith([two, one]).env,
    )
    assert.equal(code, 0, stderr)
    token = stdout.trim()
    apis = nodes.map(apiOf)
  })
  after(() => started.disposeAsync())

  function placeWith(servers: readonly PostgresServer[]): Place {
    const dataDir = createFolder()
    const hosts = servers.map(({ port }) => `127.0.0.1:${port}`)
    const databaseUrl = `postgres://postgres@${hosts}/terse?target_session_attrs=read-write`
    const env = {
      TERSE_DATA_DIR: dataDir,
      TERSE_DATABASE_URL: databaseUrl,
      TERSE_SECRET_KEY: KEY,
      TERSE_STOP_DELAY_SECONDS: '0',
    }
    return { dataDir, databaseUrl, env, remove: async () => {} }
  }

  async function startNode(servers: readonly PostgresServer[]): Promise<ServiceProcess> {
    const node = await startProcess(placeWith(servers), { TERSE_BASE_URL: 'http://localhost' })
    started.defer(async () => {
      if (node.child.exitCode === null) await node.stop()
    })
    return node
  }

  const apiOf = ({ port }: ServiceProcess) => apiClient(`http://127.0.0.1:${port}`, token)

  async function follow({ port }: ServiceProcess, key: string): Promise<number> {
    const { status } = await visit(port, `/${key}`)
    if (status === 302) redirects += 1
    return status
  }

  async function createIn(api: Api, key: string): Promise<void> {
    const link = { domain: 'localhost', key, url: DESTINATION }
    const once = { 'idempotency-key': key }
    expectStatus(await untilServed(() => api.post('/links', link, once)), 201)
  }

  /** Kills the primary while its standby shows nothing new. Until it is promoted, no link may be missing. */
  async function failOver(primary: PostgresServer, standby: PostgresServer, round: string) {
    const [first = assert.fail()] = apis
    await createIn(first, `cached-${round}`)
    for (const node of nodes)
      await eventually(async () => assert.equal(await follow(node, `cached-${round}`), 302))
    await standby.query('select pg_wal_replay_pause()')
    await createIn(first, `late-${round}`)
    await primary.crash()
    for (const [index, node] of nodes.entries()) {
      const isUnavailable = async () => {
        assert.equal(await follow(node, `late-${round}`), 503)
        assert.equal(await follow(node, `cached-${round}`), 302)
        assert.equal((await visit(node.port, '/readyz?role=redirect')).status, 200)
        assert.equal((await visit(node.port, '/readyz?role=api')).status, 503)
        assert.equal((await apis[index]?.get('/links'))?.status, 503)
      }
      for (let time = 0; time < 10; time += 1) await isUnavailable()
      // Known to be absent until the node notices.
      await eventually(async () => assert.equal(await follow(node, 'absent'), 503))
    }
    await standby.query('select pg_promote()')
    await expectRecovered(`late-${round}`)
  }

  async function expectRecovered(key: string): Promise<void> {
    for (const [index, node] of nodes.entries()) {
      await eventually(async () => assert.equal(await follow(node, key), 302))
      await eventually(async () => assert.equal(await follow(node, 'absent'), 404))
      const link = { domain: 'localhost', url: DESTINATION }
      await eventually(async () =>
        expectStatus((await apis[index]?.post('/links', link)) ?? assert.fail(), 201),
      )
    }
  }

  test('needs only the promotion: the standby answers for no link before it', async () => {
    await failOver(one, two, 'first')
  })

  test('keeps out the former primary that comes back and accepts writes', async () => {
    await one.start()
    await one.query('alter system reset synchronous_standby_names')
    await one.query('select pg_reload_conf()')
    const linksOf = (server: PostgresServer) =>
      server.query('select count(*)::integer as links from links', 'terse')
    const [left] = await linksOf(one)
    // Every connection is made again.
    await two.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'terse'",
    )
    nodes.push(await startNode([one, two]))
    apis = nodes.map(apiOf)
    await expectRecovered('late-first')
    assert.deepEqual(await linksOf(one), [left])
    const { stdout } = await runCommand(['doctor', '--json'], placeWith([one, two]).env)
    const [now] = await linksOf(two)
    assert.match(stdout, new RegExp(`${now?.links} links`))
  })

  test('leads back to the first server once that is a standby again', async () => {
    await one.stop()
    const { port } = one
    one = await two.standby(port)
    started.defer(() => one.remove())
    await one.start()
    await replicateSynchronously(two)
    await failOver(two, one, 'second')
  })

  test('loses no click and counts none twice', async () => {
    await eventually(async () => {
      const counted = await one.query('select count(*)::integer as clicks from clicks', 'terse')
      assert.deepEqual(counted, [{ clicks: redirects }])
    })
    for (const node of nodes) assert.equal(await node.stop(), 0)
  })
})

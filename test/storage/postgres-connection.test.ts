import assert from 'node:assert/strict'
import { after, before, describe, mock, type TestContext, test } from 'node:test'
import { sql } from 'kysely'
import pg from 'pg'
import type { OpenedStore } from '../../src/app/database/opened-store.ts'
import { Failure } from '../../src/platform/failure.ts'
import { ENGINES, type Place, serverUrl } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { createPostgres } from '../support/postgres-server.ts'
import { openAt } from '../support/store.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'

const isUnavailable = (error: unknown) => error instanceof Failure && error.code === 'unavailable'

describe('a connection to PostgreSQL', () => {
  let place: Place
  let opened: OpenedStore
  const errors: unknown[] = []
  before(async () => {
    const engine = ENGINES.find(({ name }) => name === 'PostgreSQL')
    assert.ok(engine !== undefined)
    place = await engine.createPlace()
    opened = await openAt(place, { onError: (error) => errors.push(error) })
  })
  after(async () => {
    await opened.store.close()
    await place.remove()
  })

  /**
   * Terminates the service's connections to this database, as an administrator or a failover does,
   * and waits until the pools have noticed it of their idle ones.
   */
  async function terminateAll(): Promise<void> {
    const client = new pg.Client(place.databaseUrl)
    await client.connect()
    await client.query(`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`)
    await client.end()
    await eventually(async () => {
      for (const [name, { idle }] of opened.poolUses()) assert.equal(idle, 0, name)
    })
  }

  test('fails running statements as unavailable when it is terminated, and no later ones', async () => {
    const { store } = opened
    await store.read.instance.find('any')
    await terminateAll()
    assert.ok(errors.length > 0, 'the end of an idle connection is reported')
    assert.equal(await store.read.instance.find('any'), undefined)

    // Between two statements of a transaction, and within one.
    const between = store.write(async (stores) => {
      await stores.instance.keep('undone', 'value')
      await terminateAll()
      await stores.instance.find('undone')
    })
    await assert.rejects(between, isUnavailable)
    assert.equal(await store.read.instance.find('undone'), undefined)

    const within = sql`select pg_sleep(2)`.execute(opened.db)
    const refused = assert.rejects(within, isUnavailable)
    await eventually(async () => {
      const { rows } = await sql`select 1 from pg_stat_activity
        where datname = current_database() and query like '%pg_sleep(%' and pid <> pg_backend_pid()`.execute(
        opened.db,
      )
      assert.equal(rows.length, 1)
    })
    await terminateAll()
    await refused
    assert.equal(await store.write((stores) => stores.instance.keep('kept', 'value')), 'value')
  })

  test('fails within seconds when nothing arrives any more, and is not used again', async (t) => {
    const url = new URL(place.databaseUrl ?? '')
    const proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port) })
    url.port = String(proxy.port)
    const behind = await openAt({ ...place, databaseUrl: url.href }, { timeoutMs: 2_000 })
    t.after(() => Promise.all([behind.store.close(), proxy.close()]))
    await behind.store.read.instance.find('any')
    proxy.freezeOpen()
    const startedMs = performance.now()
    await assert.rejects(behind.store.read.instance.find('any'), isUnavailable)
    const waitedMs = performance.now() - startedMs
    assert.ok(waitedMs < 20_000, `waited ${waitedMs} ms`)
    assert.equal(await behind.store.read.instance.find('any'), undefined)
  })

  /** Opens the database through a proxy, with timers that only `tick` moves on. */
  async function openBehindProxy(t: TestContext) {
    const url = new URL(place.databaseUrl ?? '')
    const proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port) })
    t.after(() => proxy.close())
    url.port = String(proxy.port)
    /** Resolves when the service has sent a text to the server. */
    const untilSent = (text: string) =>
      new Promise<void>((resolve) => {
        proxy.onRoundTrip((sent) => {
          if (sent.includes(text)) resolve()
        })
      })
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const open = () => openAt({ ...place, databaseUrl: url.href }, { timeoutMs: 2_000 })
    return { proxy, untilSent, open }
  }

  test('starts when a busy server takes ten seconds to let in its first connection', async (t) => {
    const { proxy, untilSent, open } = await openBehindProxy(t)
    proxy.hold()
    const isConnecting = untilSent('terse')
    const opening = open()
    await isConnecting
    t.mock.timers.tick(10_000)
    proxy.mend()
    const behind = await opening
    assert.equal(await behind.store.read.instance.find('any'), undefined)
    await behind.store.close()
  })

  test('fails when a server does not let it in within twenty seconds', async (t) => {
    const { proxy, untilSent, open } = await openBehindProxy(t)
    proxy.hold()
    const isConnecting = untilSent('terse')
    const refused = assert.rejects(open(), isUnavailable)
    await isConnecting
    t.mock.timers.tick(20_000)
    await refused
  })

  test('fails when the first queries of a start get no answer for twenty seconds', async (t) => {
    const holder = new pg.Client(place.databaseUrl)
    await holder.connect()
    t.after(() => holder.end())
    await holder.query('begin')
    await holder.query('lock table schema_migrations')
    const { untilSent, open } = await openBehindProxy(t)
    const isWaiting = untilSent('schema_migrations')
    const refused = assert.rejects(open(), isUnavailable)
    await isWaiting
    t.mock.timers.tick(20_000)
    await refused
  })

  test('fails as unavailable when the server does not exist', async () => {
    const proxy = await startTcpProxy({ host: '127.0.0.1', port: 1 })
    const url = new URL(place.databaseUrl ?? '')
    url.port = String(proxy.port)
    await assert.rejects(
      openAt({ ...place, databaseUrl: url.href }, { timeoutMs: 2_000 }),
      isUnavailable,
    )
    await proxy.close()
  })
})

describe('a PostgreSQL that accepts no more connections', () => {
  test('is queried over the existing connections, and these are kept', async (t) => {
    const engine = ENGINES.find(({ name }) => name === 'PostgreSQL')
    assert.ok(engine !== undefined)
    const place = await engine.createPlace()
    const url = new URL(place.databaseUrl ?? '')
    const [database, role] = [url.pathname.slice(1), `${url.pathname.slice(1)}_owner`]
    const administrator = new pg.Client(`${serverUrl()}/postgres`)
    await administrator.connect()
    await administrator.query(`create role ${role} login password 'any' connection limit 3`)
    await administrator.query(`alter database ${database} owner to ${role}`)
    url.username = role
    url.password = 'any'
    const { store } = await openAt({ ...place, databaseUrl: url.href })
    const other = new pg.Client(url.href)
    t.after(async () => {
      await Promise.all([store.close(), other.end()])
      await place.remove()
      await administrator.query(`drop role ${role}`)
      await administrator.end()
    })
    const { changes, instance } = store.read
    const cursor = await changes.end()
    await instance.find('any')
    await other.connect()
    let refused = 0
    for (let round = 0; round < 20; round += 1) {
      const asked = Array.from({ length: 3 }, () => instance.find('any'))
      for (const { status } of await Promise.allSettled(asked)) {
        if (status === 'rejected') refused += 1
      }
    }
    assert.ok(refused > 0, 'more queries than connections')
    assert.equal((await changes.since(cursor, 1)).isInterrupted, false)
  })
})

describe('a PostgreSQL that becomes read-only', () => {
  test('is unavailable over open connections too, although its queries succeed', async (t) => {
    const server = await createPostgres()
    t.after(() => server.remove())
    await server.start()
    const url = server.url('postgres')
    const { store } = await openAt({ dataDir: '', databaseUrl: url })
    t.after(() => store.close())
    await store.read.changes.end()
    await server.query('alter system set default_transaction_read_only = on')
    await server.query('select pg_reload_conf()')
    await eventually(async () => {
      await store.read.changes.end().catch(() => {})
      assert.equal(store.isAvailable(), false)
    })
    await assert.rejects(store.read.instance.find('any'), isUnavailable)
    await server.query('alter system reset default_transaction_read_only')
    await server.query('select pg_reload_conf()')
    await eventually(async () => assert.equal(await store.read.instance.find('any'), undefined))
  })
})

describe('a PostgreSQL that is too old', () => {
  test('is rejected before anything is changed in it', async () => {
    const engine = ENGINES.find(({ name }) => name === 'PostgreSQL')
    assert.ok(engine !== undefined)
    const place = await engine.createPlace()
    const real = pg.Client.prototype.query
    const queries: string[] = []
    const spy = mock.method(
      pg.Client.prototype,
      'query',
      function (this: pg.Client, ...args: unknown[]) {
        const [query] = args as [{ text?: string } | string]
        queries.push(typeof query === 'string' ? query : (query.text ?? ''))
        if (queries.at(-1) !== 'show server_version') return Reflect.apply(real, this, args)
        return Promise.resolve({ rows: [{ server_version: '14.9 (Debian)' }], rowCount: 1 })
      },
    )
    try {
      await assert.rejects(openAt(place), /PostgreSQL 14\.9 is too old; 15 or newer is required/)
      const others = queries.filter((query) => !query.includes('pg_is_in_recovery()'))
      assert.deepEqual(others, ['show server_version'])
    } finally {
      spy.mock.restore()
      await place.remove()
    }
  })
})

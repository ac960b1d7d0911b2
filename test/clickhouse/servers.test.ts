import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { clickMigrations } from '../../src/clicks/store/clickhouse/layout.ts'
import { Failure } from '../../src/platform/failure.ts'
import { ClickHouse } from '../../src/storage/clickhouse/clickhouse.ts'
import { type ClickhouseServer, createClickhouse } from '../support/clickhouse/server.ts'
import { clicksAt, SQLITE } from '../support/engines.ts'
import { freePort } from '../support/free-port.ts'
import { runCommand } from '../support/run-command.ts'

describe('a database with several servers', () => {
  let server: ClickhouseServer
  let silent: Server
  let connections = 0

  before(async () => {
    server = await createClickhouse()
    await server.start()
    silent = createServer(() => {
      connections += 1
    })
    await once(silent.listen(0, '127.0.0.1'), 'listening')
  })
  after(async () => {
    silent.close()
    await server.remove()
  })

  function openWith(port: number, timeoutMs: number): ClickHouse {
    const hosts = `127.0.0.1:${port},127.0.0.1:${server.port}`
    const url = `clickhouse://terse@${hosts}/default?cluster=all`
    return new ClickHouse({ ...clicksAt(url, server.password), timeoutMs, connectionsMax: 2 })
  }

  test('asks the next one while one cannot be reached', async () => {
    const db = openWith(await freePort(), 15_000)
    assert.deepEqual(await db.rows('select 1 as one'), [{ one: 1 }])
    await db.close()
  })

  test('ends an operation at its limit, and asks the next one from then on', async () => {
    const db = openWith((silent.address() as AddressInfo).port, 1_000)
    await assert.rejects(
      db.rows('select 1 as one'),
      (error) => error instanceof Failure && error.code === 'unavailable',
    )
    assert.equal(connections, 1)
    assert.deepEqual(await db.rows('select 1 as one'), [{ one: 1 }])
    await db.close()
  })

  test('reports what a server refuses, without asking the next one', async () => {
    const db = openWith(server.port, 15_000)
    await assert.rejects(db.rows('select no_column'), /no_column/)
    await db.close()
  })

  test('has a schema that ClickHouse can parse', async () => {
    const layout = { cluster: 'west-1', partition: 'day', database: 'terse' } as const
    for (const { statements } of clickMigrations(layout)) {
      for (const statement of statements) await server.query(`explain ast ${statement}`)
    }
  })

  test('takes clicks of a command that has its password, and no address in the settings', async (t) => {
    const place = await SQLITE.createMigratedPlace()
    t.after(() => place.remove())
    await server.query('create database moved')
    const env = { ...place.env, TERSE_CLICKS_PASSWORD: server.password }
    const { code, stdout } = await runCommand(['clicks', 'move', '--to', server.url('moved')], env)
    assert.equal(code, 0)
    assert.match(stdout, /^0 days copied/m)
  })
})

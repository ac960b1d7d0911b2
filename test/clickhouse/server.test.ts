import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type ClickhouseServer, createClickhouse } from '../support/clickhouse/server.ts'

describe('the server of ClickHouse that the tests use', () => {
  let server: ClickhouseServer

  before(async () => {
    server = await createClickhouse()
    await server.start()
  })

  after(() => server.remove())

  test('keeps what is inserted after a crash', async () => {
    await server.query('create table kept (value UInt64) engine = MergeTree order by value')
    await server.query('insert into kept values (1), (2)')
    await server.crash()
    await server.start()
    assert.equal(await server.query('select sum(value) from kept'), '3\n')
  })

  test('drops a block whose token is known', async () => {
    await server.query(
      'create table once (value UInt64) engine = MergeTree order by value settings non_replicated_deduplication_window = 10',
    )
    for (let round = 1; round <= 2; round += 1) {
      await server.query(
        `insert into once settings insert_deduplication_token = 'a' values (${round})`,
      )
    }
    assert.equal(await server.query('select value from once'), '1\n')
  })

  test('refuses an unknown table with the code of ClickHouse', async () => {
    await assert.rejects(server.query('select * from missing'), /^Error: Code: 60\..*UNKNOWN_TABLE/)
  })

  test('refuses several statements at once', async () => {
    await assert.rejects(server.query('select 1; select 2'), /Code: 62\./)
  })

  test('executes statements at the same time', async () => {
    const startedMs = performance.now()
    await Promise.all(Array.from({ length: 4 }, () => server.query('select sleep(1)')))
    assert.ok(performance.now() - startedMs < 3_900)
  })
})

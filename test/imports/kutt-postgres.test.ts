import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { openKuttPostgres } from '../../src/imports/sources/kutt-postgres.ts'
import { ENGINES } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { readRecords } from '../support/import-sources.ts'
import { copyKuttToPostgres } from '../support/kutt-postgres.ts'
import { describeKutt, faultOf, KUTT_FILE, openKuttFile } from '../support/kutt-source.ts'

const postgres = { url: '', remove: async () => {} }
before(async () => {
  const engine = ENGINES.find(({ name }) => name === 'PostgreSQL')
  const place = await engine?.createPlace()
  if (place?.databaseUrl === undefined) throw new Error('there is no PostgreSQL')
  postgres.url = place.databaseUrl
  postgres.remove = place.remove
  await copyKuttToPostgres(KUTT_FILE, place.databaseUrl)
})
after(() => postgres.remove())

const openPostgres = () => openKuttPostgres({ kind: 'kutt-postgres', url: postgres.url })

describeKutt("Kutt's PostgreSQL database", openPostgres)

describe("Kutt's PostgreSQL database", () => {
  test('is the same whatever zone its server is in', async () => {
    const client = new pg.Client(postgres.url)
    await client.connect()
    const [{ name }] = (await client.query('select current_database() as name')).rows
    await client.query(`alter database ${name} set timezone = 'America/New_York'`)
    await client.end()
    assert.deepEqual(await readRecords(openPostgres()), await readRecords(openKuttFile()))
  })

  test('is read as it was when reading began', async () => {
    const client = new pg.Client(postgres.url)
    await client.connect()
    const reading = openPostgres().read({ resume: undefined, signal: new AbortController().signal })
    const first = await reading.next()
    await client.query('insert into visits (id, link_id, total) values (100000, 1, 5)')
    const rest = await Array.fromAsync(reading)
    await client.query('delete from visits where id = 100000')
    await client.end()
    assert.equal([first.value, ...rest].length, (await readRecords(openKuttFile())).length)
  })

  test('leaves no connection open', async () => {
    const source = openPostgres()
    const reading = source.read({ resume: undefined, signal: new AbortController().signal })
    await reading.next()
    await source.close()
    const client = new pg.Client(postgres.url)
    await client.connect()
    const query =
      "select count(*)::int as count from pg_stat_activity where application_name = 'terse import' and datname = current_database()"
    // The server ends its process a little later.
    await eventually(async () => assert.equal((await client.query(query)).rows[0].count, 0))
    await client.end()
  })

  const FAULTS: { name: string; url: () => string; message: RegExp; isTransient: boolean }[] = [
    {
      name: 'has no such address',
      url: () => 'kutt.example.com',
      message: /form/,
      isTransient: false,
    },
    {
      name: 'is not there',
      url: () => postgres.url.replace(/test_\w+$/, 'none'),
      message: /none/,
      isTransient: false,
    },
    {
      name: 'refuses the connection',
      url: () => 'postgres://kutt:secret@127.0.0.1:1/kutt',
      message: /cannot be read/,
      isTransient: true,
    },
    {
      name: 'is of another service',
      url: () => postgres.url.replace(/test_\w+$/, 'postgres'),
      message: /no database of Kutt/,
      isTransient: false,
    },
  ]
  for (const { name, url, message, isTransient } of FAULTS)
    test(`throws when it ${name}`, async () => {
      const source = openKuttPostgres({ kind: 'kutt-postgres', url: url() })
      await assert.rejects(readRecords(source), faultOf(message, isTransient))
    })
})

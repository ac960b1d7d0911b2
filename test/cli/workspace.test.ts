import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Place, SQLITE } from '../support/engines.ts'
import { makeInstance } from '../support/make-instance.ts'
import { runCli } from '../support/run-cli.ts'
import { runCommand } from '../support/run-command.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/

describe('terse workspace', () => {
  let place: Place
  before(async () => {
    place = await SQLITE.createMigratedPlace()
    await makeInstance(place.env)
  })
  after(() => place.remove())

  const workspace = (...args: string[]) => runCommand(['workspace', ...args], place.env)
  const process = (...args: string[]) => runCli(['workspace', ...args], place.env)

  test('creates workspaces and lists them', async () => {
    const empty = await workspace('list', '--json')
    assert.deepEqual(JSON.parse(empty.stdout), [])

    const acme = await process('create', 'acme')
    assert.equal(acme.code, 0, acme.stderr)
    assert.match(acme.stderr, /^It has no owner yet\. To invite one: npx terse person invite/)
    assert.match(acme.stdout.trim(), UUID)
    const zoo = await workspace('create', 'zoo', '--title', 'The Zoo')

    const { stdout, code } = await process('list', '--json')
    assert.equal(code, 0)
    const rows: { id: string; name: string; created_at: string }[] = JSON.parse(stdout)
    assert.deepEqual(
      rows.map(({ name, id }) => [name, id]),
      [
        ['acme', acme.stdout.trim()],
        ['zoo', zoo.stdout.trim()],
      ],
    )
    for (const row of rows) {
      assert.deepEqual(Object.keys(row), ['id', 'name', 'title', 'created_at', 'own_quotas'])
      assert.match(row.created_at, INSTANT)
    }

    const table = (await workspace('list')).stdout.split('\n')
    assert.match(table[0] ?? '', /^NAME +TITLE +ID +CREATED +OWN QUOTAS$/)
    assert.match(table[1] ?? '', new RegExp(`^acme +acme +${acme.stdout.trim()} +\\d{4}-`))
    assert.match(table[2] ?? '', /^zoo +The Zoo /)
    assert.equal(table.length, 4)
    await workspace('title', 'zoo', 'Zoological Garden')
    assert.match((await workspace('list')).stdout, /^zoo +Zoological Garden /m)
  })

  test('sets, shows and removes quotas of one workspace', async () => {
    const created = await workspace('create', 'limited')
    const set = ['--links', '5000', '--storage-mib', '2', '--pending-domains', 'none']
    const first = await workspace('quota', 'limited', ...set)
    assert.equal(first.code, 0, first.stderr)
    assert.match(first.stdout, /^links +0 +5000 +workspace$/m)
    assert.match(first.stdout, /^storage_bytes +0 +2097152 +workspace$/m)
    assert.match(first.stdout, /^pending_domains +0 +none +workspace$/m)
    assert.match(first.stdout, /^domains +0 +none +instance$/m)

    const byId = ['quota', created.stdout.trim(), '--storage-mib', 'default', '--json']
    const { stdout } = await workspace(...byId)
    const limits = JSON.parse(stdout).map((row: Record<string, unknown>) => [
      row.quota,
      row.limit,
      row.of,
    ])
    assert.deepEqual(limits, [
      ['links', 5_000, 'workspace'],
      ['domains', null, 'instance'],
      ['pending_domains', null, 'workspace'],
      ['storage_bytes', null, 'instance'],
      ['conversions', 1_000_000, 'instance'],
      ['requests_per_minute', null, 'instance'],
    ])
    const list = (await workspace('list')).stdout
    assert.match(list, /^limited .+ links=5000 pending_domains=none$/m)
  })

  test('rejects an invalid quota, and a quota of an unknown workspace', async () => {
    for (const limit of ['-1', '0', '1e3', 'off']) {
      assert.equal((await workspace('quota', 'acme', `--links=${limit}`)).code, 5, limit)
    }
    for (const name of ['nobody', '019aa3c2-5b1e-7c3f-9d55-6f0e6a1b2c3d']) {
      assert.match((await workspace('quota', name)).stderr, /not found/, name)
    }
  })

  test('rejects a name that exists, and an invalid one', async () => {
    for (const name of ['acme', 'Bad Name']) {
      const { code, stdout, stderr } = await workspace('create', name)
      assert.equal(code, 5, name)
      assert.equal(stdout, '')
      assert.match(stderr, /^terse: name .+\n$/)
    }
  })
})

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ENGINES, type Place } from '../support/engines.ts'
import { makeInstance } from '../support/make-instance.ts'
import { runCli } from '../support/run-cli.ts'
import { runCommand } from '../support/run-command.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/

for (const engine of ENGINES) {
  describe(`terse workspace on ${engine.name}`, () => {
    let place: Place
    before(async () => {
      place = await engine.createPlace()
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
      assert.equal(acme.stderr, '')
      assert.match(acme.stdout.trim(), UUID)
      const zoo = await workspace('create', 'zoo')

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
        assert.deepEqual(Object.keys(row), ['id', 'name', 'created_at'])
        assert.match(row.created_at, INSTANT)
      }

      const table = (await workspace('list')).stdout.split('\n')
      assert.match(table[0] ?? '', /^NAME +ID +CREATED$/)
      assert.match(table[1] ?? '', new RegExp(`^acme +${acme.stdout.trim()} +\\d{4}-`))
      assert.equal(table.length, 4)
    })

    test('refuses a name that is taken, and one that is none', async () => {
      for (const name of ['acme', 'Bad Name']) {
        const { code, stdout, stderr } = await workspace('create', name)
        assert.equal(code, 1, name)
        assert.equal(stdout, '')
        assert.match(stderr, /^terse: name .+\n$/)
      }
    })
  })
}

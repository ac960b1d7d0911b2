import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CommandImports } from '../../src/imports/command-imports.ts'
import { systemRandom } from '../../src/platform/crypto/random.ts'
import { describeStore } from '../support/store.ts'
import { importServices } from './import-services.ts'

describeStore('the imports of commands', (at) => {
  test('start again only when the command has shown how the one before ended', async () => {
    const { store, clock, actor } = await importServices(at)
    const imports = new CommandImports({ store, clock, random: systemRandom })
    const options = { domains: {}, onConflict: 'skip', timeZone: 'UTC', columns: {} } as const
    const asked = { source: 'csv', isDryRun: false, options } as const
    const begin = () => imports.begin(actor, asked, 'the same', () => {})
    const first = await begin()
    const succeeded = { status: 'succeeded', lease_until: null } as const
    await store.write((stores) => stores.imports.update(first.id, first.fence, succeeded))
    // As after a kill that came before the summary.
    const again = await begin()
    assert.deepEqual([again.id, again.status], [first.id, 'succeeded'])
    await imports.conclude(again)
    const next = await begin()
    assert.notEqual(next.id, first.id)
    assert.equal(next.status, 'reading')
  })
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeStore } from '../support/store.ts'
import { FakeSource, linkRecord } from './fake-source.ts'
import { importServices, outcomesOf } from './import-services.ts'

describeStore('an import', (at) => {
  test('creates links with their dates, tags and values', async () => {
    const { importAll, links } = await importServices(at)
    const source = new FakeSource([
      linkRecord({ key: 'One', tags: ['a', 'b', 'a'], ios: 'https://example.com/ios' }),
      linkRecord({ key: 'two', expires_at: 1_900_000_000_000_000, rest: { title: 'Two' } }),
    ])
    const { ended, rows } = await importAll(source)
    assert.equal(ended.status, 'succeeded')
    assert.deepEqual(outcomesOf(rows), ['old.example/One created', 'old.example/two created'])
    const found = await links()
    const one = found.get('One')
    assert.deepEqual(
      [one?.url, one?.created_at, one?.tags, one?.ios],
      ['https://example.com/One', 1_600_000_000_000_000, ['a', 'b'], 'https://example.com/ios'],
    )
    assert.equal(found.get('two')?.expires_at, '2030-03-17T17:46:40.000000Z')
  })

  test('changes nothing when the same source is imported again', async () => {
    const { importAll, links } = await importServices(at)
    const records = [linkRecord({ key: 'one' }), linkRecord({ key: 'two', clicks: 5 })]
    await importAll(new FakeSource(records))
    const before = await links()
    for (const onConflict of ['skip', 'update', 'rename', 'fail'] as const) {
      const { ended, rows } = await importAll(new FakeSource(records), { options: { onConflict } })
      assert.equal(ended.status, 'succeeded', onConflict)
      assert.deepEqual(
        outcomesOf(rows),
        ['old.example/one skipped', 'old.example/two skipped'],
        onConflict,
      )
    }
    assert.deepEqual(await links(), before)
  })
})

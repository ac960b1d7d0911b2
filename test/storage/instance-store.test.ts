import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeStore } from '../support/store.ts'

describeStore('the instance store', (at) => {
  test('returns nothing for a name that was never stored', async () => {
    assert.equal(await at.store.read.instance.find('never'), undefined)
  })

  test('keeps the first value, and returns it when another is offered', async () => {
    const keep = (value: string) => at.store.write((stores) => stores.instance.keep('name', value))
    assert.equal(await keep('first'), 'first')
    assert.equal(await keep('second'), 'first')
    assert.equal(await at.store.read.instance.find('name'), 'first')
  })

  test('returns the same value to several processes that offer one at the same time', async () => {
    const other = await at.another()
    const kept = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        (index % 2 === 0 ? at.store : other.store).write((stores) =>
          stores.instance.keep('contested', `value ${index}`),
        ),
      ),
    )
    assert.deepEqual([...new Set(kept)], [await at.store.read.instance.find('contested')])
  })
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { glance } from './glance.ts'

describe('a glance', () => {
  test('looks once for all who ask at once, and not again while it is good enough', async () => {
    let looks = 0
    const look = glance({ look: async () => (looks += 1), keepMs: 60_000, patienceMs: 60_000 })
    assert.deepEqual(await Promise.all([look(), look()]), [1, 1])
    assert.equal(await look(), 1)
  })

  test('tells what it knows when a look takes long, and the news once they are there', async () => {
    const first = Promise.withResolvers<string>()
    const look = glance({ look: () => first.promise, keepMs: 60_000, patienceMs: 1 })
    assert.equal(await look(), undefined)
    first.resolve('seen')
    assert.equal(await look(), 'seen')
  })

  test('knows nothing after a look that failed', async () => {
    let fails = false
    const look = glance({
      async look() {
        if (fails) throw new Error('on purpose')
        return 'seen'
      },
      keepMs: 0,
      patienceMs: 60_000,
    })
    assert.equal(await look(), 'seen')
    fails = true
    assert.equal(await look(), undefined)
  })
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { glance } from './glance.ts'

describe('glance', () => {
  test('shares one read among concurrent callers, and does not read again while the value is fresh', async () => {
    let looks = 0
    const look = glance({ look: async () => (looks += 1), keepMs: 60_000, patienceMs: 60_000 })
    assert.deepEqual(await Promise.all([look(), look()]), [1, 1])
    assert.equal(await look(), 1)
  })

  test('returns what it has when a read is slow, and the new value once it arrives', async () => {
    const first = Promise.withResolvers<string>()
    const look = glance({ look: () => first.promise, keepMs: 60_000, patienceMs: 1 })
    assert.equal(await look(), undefined)
    first.resolve('seen')
    assert.equal(await look(), 'seen')
  })

  test('returns undefined after a failed read', async () => {
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

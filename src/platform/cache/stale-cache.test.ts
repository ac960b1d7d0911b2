import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { staleCache } from './stale-cache.ts'

describe('staleCache', () => {
  test('shares one read among concurrent callers, and does not read again while the value is fresh', async () => {
    let looks = 0
    const read = staleCache({ load: async () => (looks += 1), ageMsMax: 60_000, waitMsMax: 60_000 })
    assert.deepEqual(await Promise.all([read(), read()]), [1, 1])
    assert.equal(await read(), 1)
  })

  test('returns what it has when a read is slow, and the new value once it arrives', async () => {
    const first = Promise.withResolvers<string>()
    const read = staleCache({ load: () => first.promise, ageMsMax: 60_000, waitMsMax: 1 })
    assert.equal(await read(), undefined)
    first.resolve('seen')
    assert.equal(await read(), 'seen')
  })

  test('returns undefined after a failed read', async () => {
    let fails = false
    const read = staleCache({
      async load() {
        if (fails) throw new Error('on purpose')
        return 'seen'
      },
      ageMsMax: 0,
      waitMsMax: 60_000,
    })
    assert.equal(await read(), 'seen')
    fails = true
    assert.equal(await read(), undefined)
  })
})

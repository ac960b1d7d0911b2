import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { waitForAll } from './async.ts'

describe('waitForAll', () => {
  test('returns the values in their order, also those that are no promises', async () => {
    assert.deepEqual(await waitForAll([Promise.resolve(1), undefined, 'three']), [
      1,
      undefined,
      'three',
    ])
  })

  test('waits for all, and rejects with the first in their order, not in time', async () => {
    const first = Promise.withResolvers<never>()
    let isSettled = false
    const second = Promise.reject(new Error('second'))
    const waiting = waitForAll([first.promise, second]).finally(() => {
      isSettled = true
    })
    await new Promise(setImmediate)
    assert.equal(isSettled, false)
    first.reject(new Error('first'))
    await assert.rejects(waiting, /first/)
  })
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { yieldToEventLoop } from './async.ts'

describe('yieldToEventLoop', () => {
  test('resumes one caller in each iteration of the event loop, in order', async () => {
    let iteration = 0
    let isCounting = true
    const count = () => {
      iteration += 1
      if (isCounting) setImmediate(count)
    }
    setImmediate(count)
    const seen: number[] = []
    await Promise.all(
      Array.from({ length: 5 }, async () => {
        await yieldToEventLoop()
        seen.push(iteration)
      }),
    )
    isCounting = false
    assert.equal(new Set(seen).size, 5, seen.join())
    assert.deepEqual(
      seen,
      seen.toSorted((a, b) => a - b),
    )
  })
})

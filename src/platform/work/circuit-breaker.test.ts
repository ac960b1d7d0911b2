import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, mock, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { CircuitBreaker } from './circuit-breaker.ts'

describe('CircuitBreaker', () => {
  let breaker: CircuitBreaker
  let probes: PromiseWithResolvers<void>[]
  let reported: unknown[]
  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] })
    probes = []
    reported = []
    breaker = new CircuitBreaker({
      probe() {
        const probe = Promise.withResolvers<void>()
        probes.push(probe)
        return probe.promise
      },
      onOpen: (cause) => reported.push(cause),
      onPass: (wasOpen) => reported.push(wasOpen),
    })
  })
  afterEach(() => {
    breaker.stop()
    mock.reset()
  })

  /** Ends the pending probe. */
  async function end(error?: Error): Promise<void> {
    const probe = probes.at(-1)
    if (error === undefined) probe?.resolve()
    else probe?.reject(error)
    await nextTurn()
  }

  test('probes once for any number of doubts, and stays closed meanwhile', async () => {
    for (let failure = 0; failure < 5; failure += 1) breaker.suspect()
    assert.equal(probes.length, 1)
    assert.equal(breaker.isOpen, false)
    await end()
    assert.equal(breaker.isOpen, false)
    assert.deepEqual(reported, [false])
    breaker.suspect()
    assert.equal(probes.length, 2)
  })

  test('opens when the probe fails, and reports that once', async () => {
    const cause = new Error('no answer')
    breaker.suspect()
    await end(cause)
    assert.equal(breaker.isOpen, true)
    assert.equal(breaker.cause, cause)
    const again = new Error('still no answer')
    mock.timers.tick(1_000)
    await end(again)
    assert.equal(breaker.cause, again)
    assert.deepEqual(reported, [cause])
  })

  test('while open, only probes run, one at a time and at most one a second', async () => {
    breaker.suspect()
    for (let failures = 0; failures < 20; failures += 1) {
      await end(new Error('away'))
      mock.timers.tick(1_000)
    }
    const before = probes.length
    breaker.suspect()
    mock.timers.tick(100_000)
    assert.equal(probes.length, before, 'no second probe while one is pending')
    assert.equal(before, 21)
  })

  test('closes with the first successful probe', async () => {
    breaker.suspect()
    await end(new Error('away'))
    mock.timers.tick(1_000)
    await end()
    assert.equal(breaker.isOpen, false)
    assert.equal(breaker.cause, undefined)
    assert.equal(reported.at(-1), true)
  })

  test('stops probing once it is stopped', async () => {
    breaker.suspect()
    await end(new Error('away'))
    breaker.stop()
    mock.timers.tick(100_000)
    breaker.suspect()
    assert.equal(probes.length, 1)
  })
})

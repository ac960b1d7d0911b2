import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { type FakeClock, fakeClock } from '../../../test/support/fake-clock.ts'
import { cases } from '../../../test/support/properties.ts'
import { Throttle } from './throttle.ts'

const LIMIT = 3
const WINDOW_SECONDS = 60

function throttle(clock: FakeClock, keysMax = 100): Throttle {
  return new Throttle({ clock, limit: LIMIT, windowSeconds: WINDOW_SECONDS, keysMax })
}

function useUp(throttled: Throttle, key: string): void {
  for (let index = 0; index < LIMIT; index += 1) throttled.take(key)
}

describe('Throttle', () => {
  test('allows requests up to the limit, reports the rest, and then refuses', () => {
    const throttled = throttle(fakeClock())
    assert.deepEqual(
      [1, 2, 3, 4, 5].map(() => throttled.take('a')),
      [
        { allowed: true, remaining: 2, resetSeconds: 60 },
        { allowed: true, remaining: 1, resetSeconds: 60 },
        { allowed: true, remaining: 0, resetSeconds: 60 },
        { allowed: false, remaining: 0, resetSeconds: 60 },
        { allowed: false, remaining: 0, resetSeconds: 60 },
      ],
    )
  })

  test('allows a request again after giveBack, and no more than that', () => {
    const throttled = throttle(fakeClock())
    throttled.refund('a')
    useUp(throttled, 'a')
    throttled.refund('a')
    assert.equal(throttled.take('a').allowed, true)
    assert.equal(throttled.take('a').allowed, false)
  })

  test('counts each key separately', () => {
    const throttled = throttle(fakeClock())
    useUp(throttled, 'a')
    assert.equal(throttled.take('a').allowed, false)
    assert.equal(throttled.take('b').allowed, true)
  })

  test('refuses until the end of the window, and never reports 0 seconds', () => {
    const clock = fakeClock()
    const throttled = throttle(clock)
    useUp(throttled, 'a')
    clock.move(59.5)
    assert.deepEqual(throttled.take('a'), { allowed: false, remaining: 0, resetSeconds: 1 })
    clock.move(0.5)
    assert.deepEqual(throttled.take('a'), { allowed: true, remaining: 2, resetSeconds: 60 })
  })

  test('does not extend a window by refused requests', () => {
    const clock = fakeClock()
    const throttled = throttle(clock)
    useUp(throttled, 'a')
    for (let second = 1; second < WINDOW_SECONDS; second += 1) {
      clock.move(1)
      assert.equal(throttled.take('a').allowed, false)
    }
    clock.move(1)
    assert.equal(throttled.take('a').allowed, true)
  })

  test('reports a wait that is sufficient and at most a window, however the clock is set', () => {
    const jump = fc.integer({ min: -200, max: 200 })
    fc.assert(
      fc.property(fc.array(jump, { maxLength: 20 }), (jumps) => {
        const clock = fakeClock()
        const throttled = throttle(clock)
        useUp(throttled, 'a')
        for (const seconds of jumps) {
          clock.move(seconds)
          const verdict = throttled.take('a')
          assert.ok(verdict.resetSeconds <= WINDOW_SECONDS, `wait ${verdict.resetSeconds} s`)
        }
        clock.move(throttled.take('a').resetSeconds)
        assert.equal(throttled.take('a').allowed, true)
      }),
      cases(200),
    )
  })

  test('keeps a bounded number of keys, and forgets the oldest', () => {
    const throttled = throttle(fakeClock(), 2)
    for (const key of ['a', 'b', 'c']) useUp(throttled, key)
    assert.equal(throttled.take('c').allowed, false)
    assert.equal(throttled.take('b').allowed, false)
    assert.equal(throttled.take('a').allowed, true)
  })
})

import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { type Peers, Throttles } from './throttle.ts'

const LIMIT = 10
const LIMITS = { limit: LIMIT, windowSeconds: 60, keysMax: 100 }
const TELL_INTERVAL_MS = 100

type Counts = Parameters<Peers['send']>[0]

/** The throttles of several processes, connected so that each receives the others’ counts. */
function connected(t: TestContext, count: number) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const listeners: ((counts: Counts) => void)[] = []
  const sent: Counts[] = []
  const clock = fakeClock()
  const processes = Array.from({ length: count }, (_, index) => {
    const peers: Peers = {
      send(counts) {
        sent.push(counts)
        for (const [other, listener] of listeners.entries()) if (other !== index) listener(counts)
      },
      onReceived: (listener) => listeners.push(listener),
    }
    return new Throttles({ clock, peers })
  })
  return { processes, sent, clock, pass: () => t.mock.timers.tick(TELL_INTERVAL_MS) }
}

describe('Throttles', () => {
  test('share one limit among processes after they have exchanged counts', (t) => {
    const { processes, pass } = connected(t, 3)
    const [a, b, c] = processes.map((throttles) => throttles.create('requests', LIMITS))
    assert.ok(a && b && c)
    for (let taken = 0; taken < 4; taken += 1) assert.ok(a.take('token').allowed)
    for (let taken = 0; taken < 5; taken += 1) assert.ok(b.take('token').allowed)
    pass()
    assert.deepEqual(
      [a, b, c].map((throttle) => {
        const verdict = throttle.take('token')
        return verdict.allowed && verdict.remaining
      }),
      [0, 0, 0],
    )
    pass()
    for (const throttle of [a, b, c]) assert.equal(throttle.take('token').allowed, false)
    assert.equal(c.take('another').remaining, LIMIT - 1)
  })

  test('exchange given-back requests too', (t) => {
    const { processes, pass } = connected(t, 2)
    const [a, b] = processes.map((throttles) => throttles.create('passwords', LIMITS))
    assert.ok(a && b)
    for (let taken = 0; taken < LIMIT; taken += 1) a.take('link')
    pass()
    assert.equal(b.take('link').allowed, false)
    a.refund('link')
    pass()
    assert.equal(b.take('link').allowed, true)
    assert.equal(b.take('link').allowed, false)
  })

  test('keep the counts of different limits separate', (t) => {
    const { processes, pass } = connected(t, 2)
    const [a, b] = processes.map((throttles) => ({
      requests: throttles.create('requests', LIMITS),
      passwords: throttles.create('passwords', LIMITS),
    }))
    assert.ok(a && b)
    a.requests.take('same')
    pass()
    assert.equal(b.requests.take('same').remaining, LIMIT - 2)
    assert.equal(b.passwords.take('same').remaining, LIMIT - 1)
  })

  test('send the counts of a tenth of a second in one message, and nothing when nothing happened', (t) => {
    const { processes, sent, pass } = connected(t, 2)
    const throttle = processes[0]?.create('requests', LIMITS)
    pass()
    for (let taken = 0; taken < 2 * LIMIT; taken += 1) throttle?.take('token')
    throttle?.take('another')
    pass()
    pass()
    assert.deepEqual(sent, [
      [
        ['requests', 'token', LIMIT],
        ['requests', 'another', 1],
      ],
    ])
  })

  test('forget received counts when the window ends', (t) => {
    const { processes, clock, pass } = connected(t, 2)
    const [a, b] = processes.map((throttles) => throttles.create('requests', LIMITS))
    assert.ok(a && b)
    for (let taken = 0; taken < LIMIT; taken += 1) a.take('token')
    pass()
    assert.equal(b.take('token').allowed, false)
    clock.move(LIMITS.windowSeconds)
    assert.equal(b.take('token').remaining, LIMIT - 1)
  })
})

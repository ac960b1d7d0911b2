import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { FastifyRequest } from 'fastify'
import { fakeClock } from '../../../../test/support/fake-clock.ts'
import { Throttle } from '../../limits/throttle.ts'
import { IDEMPOTENCY_LIMITS, idempotencyReader } from './idempotency.ts'

const KIB = 1024

/** A request with an idempotency key, reduced to the fields that the reader uses. */
function requestOf(body: unknown): FastifyRequest {
  return {
    method: 'POST',
    headers: { 'idempotency-key': 'k' },
    routeOptions: { url: '/api/v1/links' },
    body,
  } as unknown as FastifyRequest
}

describe('idempotencyReader', () => {
  test('limits the total size of requests with an Idempotency-Key per day, for each workspace separately', () => {
    const throttle = new Throttle({
      ...IDEMPOTENCY_LIMITS,
      clock: fakeClock(Date.UTC(2026, 10, 22)),
      limit: 4,
      keysMax: 10,
    })
    const read = idempotencyReader(Buffer.alloc(32), throttle)
    const small = { url: 'https://example.com/' }
    assert.ok(read(requestOf(small), 'a'))
    const large = { url: 'x'.repeat(2 * KIB) }
    assert.throws(() => read(requestOf(large), 'a'), {
      code: 'rate_limited',
      retryAfterSeconds: IDEMPOTENCY_LIMITS.windowSeconds,
    })
    assert.ok(read(requestOf(small), 'a'))
    assert.throws(() => read(requestOf(small), 'a'), { code: 'rate_limited' })
    assert.ok(read(requestOf(large), 'b'))
  })
})

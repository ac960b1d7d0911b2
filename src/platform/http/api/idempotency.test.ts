import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { fakeClock } from '../../../../test/support/fake-clock.ts'
import { systemRandom } from '../../crypto/random.ts'
import { sealing } from '../../crypto/sealing.ts'
import { Throttle } from '../../limits/throttle.ts'
import { IDEMPOTENCY_LIMITS, idempotencyOf } from './idempotency.ts'

const KIB = 1024
const NO_REPLY = {} as FastifyReply

/** A request with an idempotency key, reduced to the fields that the reader uses. */
function requestOf(body: unknown): FastifyRequest {
  return {
    method: 'POST',
    headers: { 'idempotency-key': 'k' },
    routeOptions: { url: '/api/v1/links' },
    body,
  } as unknown as FastifyRequest
}

describe('idempotencyOf', () => {
  test('limits the total size of requests with an Idempotency-Key per day, for each workspace separately', () => {
    const throttle = new Throttle({
      ...IDEMPOTENCY_LIMITS,
      clock: fakeClock(Date.UTC(2026, 10, 22)),
      limit: 4,
      keysMax: 10,
    })
    const idempotency = idempotencyOf({
      key: Buffer.alloc(32),
      throttle,
      sealing: sealing(Buffer.alloc(32), systemRandom),
    })
    const small = { url: 'https://example.com/' }
    assert.ok(idempotency.read(requestOf(small), NO_REPLY, { workspaceId: 'a' }))
    const large = { url: 'x'.repeat(2 * KIB) }
    assert.throws(() => idempotency.read(requestOf(large), NO_REPLY, { workspaceId: 'a' }), {
      code: 'rate_limited',
      retryAfterSeconds: IDEMPOTENCY_LIMITS.windowSeconds,
    })
    assert.ok(idempotency.read(requestOf(small), NO_REPLY, { workspaceId: 'a' }))
    assert.throws(() => idempotency.read(requestOf(small), NO_REPLY, { workspaceId: 'a' }), {
      code: 'rate_limited',
    })
    assert.ok(idempotency.read(requestOf(large), NO_REPLY, { workspaceId: 'b' }))
  })
})

import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import type { ServerHttp2Stream } from 'node:http2'
import { test } from 'node:test'
import { StreamLimiter } from './stream-limiter.ts'

const STREAMS = 100
const STREAM_BYTES_MIN = 4 * 1024

test('StreamLimiter counts waiting requests as memory of their connection until they are cancelled', () => {
  const limiter = new StreamLimiter()
  const streams = Array.from({ length: STREAMS }, () =>
    Object.assign(new EventEmitter(), { writableLength: 0 }),
  )
  for (const stream of streams) limiter.run(stream as unknown as ServerHttp2Stream, () => {})
  assert.ok(limiter.unsentBytes >= STREAMS * STREAM_BYTES_MIN)
  for (const stream of streams) stream.emit('close')
  assert.equal(limiter.unsentBytes, 0)
})

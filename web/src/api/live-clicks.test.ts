import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { EventStreamParser } from './live-clicks.ts'

const STREAM = ': heartbeat\n\nevent: start\ndata: {"a":1}\n\ndata: one\ndata: two\n\n'
const EVENTS = [
  { name: 'start', data: '{"a":1}' },
  { name: 'message', data: 'one\ntwo' },
]

describe('EventStreamParser', () => {
  test('returns the same events wherever the stream is cut', () => {
    for (let size = 1; size <= STREAM.length; size += 1) {
      const parser = new EventStreamParser()
      const events = []
      for (let at = 0; at < STREAM.length; at += size) {
        events.push(...parser.push(STREAM.slice(at, at + size)))
      }
      assert.deepEqual(events, EVENTS)
    }
  })

  test('keeps an event that is not complete', () => {
    assert.deepEqual(new EventStreamParser().push('event: clicks\ndata: {}\n'), [])
  })
})

import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { describe, test } from 'node:test'
import { setImmediate as nextIteration } from 'node:timers/promises'
import { ApiRequestPacer } from './request-timing.ts'

const REQUEST_MS = 5
const REQUESTS = 100

function responseOf(): ServerResponse {
  return new EventEmitter() as ServerResponse
}

function requestOf(number: number): IncomingMessage {
  return { url: String(number) } as IncomingMessage
}

describe('ApiRequestPacer', () => {
  test('starts fewer requests per iteration while iterations are slow, in order', async (t) => {
    let nowMs = 0
    t.mock.method(performance, 'now', () => nowMs)
    const started: string[] = []
    const pacer = new ApiRequestPacer((request) => {
      started.push(request.url ?? '')
      nowMs += REQUEST_MS
    })
    for (let number = 0; number < REQUESTS; number += 1) {
      pacer.answer(requestOf(number), responseOf())
    }
    const perIteration = [started.length]
    while (started.length < REQUESTS) {
      const before = started.length
      await nextIteration()
      perIteration.push(started.length - before)
    }
    assert.deepEqual(perIteration.slice(0, 6), [32, 16, 8, 4, 2, 1])
    assert.ok(perIteration.slice(5).every((starts) => starts <= 2))
    assert.deepEqual(
      started,
      Array.from({ length: REQUESTS }, (_, number) => String(number)),
    )
  })

  test('starts every request at once again when iterations are fast', async (t) => {
    t.mock.method(performance, 'now', () => 0)
    let started = 0
    const pacer = new ApiRequestPacer(() => {
      started += 1
    })
    for (let round = 1; round <= 3; round += 1) {
      for (let number = 0; number < 16; number += 1) pacer.answer(requestOf(number), responseOf())
      assert.equal(started, round * 16)
      await nextIteration()
    }
  })

  test('does not count a pause between requests as a slow iteration', async (t) => {
    let nowMs = 0
    t.mock.method(performance, 'now', () => nowMs)
    let started = 0
    const pacer = new ApiRequestPacer(() => {
      started += 1
    })
    for (const requests of [40, 32, 32]) {
      const before = started
      for (let number = 0; number < requests; number += 1) {
        pacer.answer(requestOf(number), responseOf())
      }
      assert.equal(started - before, 32)
      await nextIteration()
      await nextIteration()
      nowMs += 1_000
    }
  })

  test('does not start a waiting request whose client has left', async () => {
    const started: string[] = []
    const pacer = new ApiRequestPacer((request) => started.push(request.url ?? ''))
    const responses = Array.from({ length: 40 }, () => responseOf())
    for (const [number, response] of responses.entries()) pacer.answer(requestOf(number), response)
    responses[35]?.emit('close')
    await nextIteration()
    assert.equal(started.length, 39)
    assert.ok(!started.includes('35'))
  })
})

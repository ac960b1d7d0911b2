import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, mock, test } from 'node:test'
import { outage, requestPatiently } from './request.ts'

const BUSY = { code: 'unavailable', message: 'The service is busy with charts.' }

function refused(seconds?: number, status = 503): Response {
  const headers = seconds === undefined ? {} : { 'Retry-After': String(seconds) }
  return Response.json(BUSY, { status, headers })
}

describe('requestPatiently', () => {
  let answers: Response[]
  let requests: number

  beforeEach(() => {
    requests = 0
    mock.method(globalThis, 'fetch', async () => {
      requests += 1
      return answers.shift() ?? Response.json({ total: 7 })
    })
    Object.assign(globalThis, {
      window: {},
      addEventListener: () => {},
      removeEventListener: () => {},
    })
  })
  afterEach(() => {
    mock.restoreAll()
    for (const name of ['window', 'addEventListener', 'removeEventListener']) {
      Reflect.deleteProperty(globalThis, name)
    }
    outage.set(undefined)
  })

  test('asks a busy service again when it says, and reports no outage', async () => {
    answers = [refused(0), refused(0, 429)]
    const answer = await requestPatiently('/clicks', {})
    assert.deepEqual(answer, { total: 7 })
    assert.equal(requests, 3)
    assert.equal(outage.value, undefined)
  })

  test('reports an outage after the fourth refusal', async () => {
    answers = Array.from({ length: 4 }, () => refused(0))
    await assert.rejects(requestPatiently('/clicks', {}), { status: 503 })
    assert.equal(requests, 4)
    assert.equal(outage.value?.kind, 'unavailable')
  })

  test('does not repeat what a later request would not change', async () => {
    answers = [refused(undefined, 422)]
    await assert.rejects(requestPatiently('/clicks', {}), { status: 422 })
    assert.equal(requests, 1)
  })

  test('ends with its page while it waits', async () => {
    answers = [refused(3_600)]
    const leave = new AbortController()
    const left = assert.rejects(requestPatiently('/clicks', { signal: leave.signal }), /left/)
    while (answers.length > 0) await new Promise((resolve) => setImmediate(resolve))
    leave.abort(new Error('left'))
    await left
    assert.equal(requests, 1)
  })
})

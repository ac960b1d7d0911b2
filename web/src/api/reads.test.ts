import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, mock, test } from 'node:test'
import { keepEarlyAnswer, requestEarly, takeEarlyAnswer } from './reads.ts'

const READ = { path: '/links', query: { page: 1, tag: ['a', 'b'] } }
const ADDRESS = '/api/v1/links?page=1&tag=a&tag=b'

describe('early answers', () => {
  let sent: (readonly [string, unknown])[]

  beforeEach(() => {
    sent = []
    Object.assign(globalThis, { window: {} })
    mock.method(globalThis, 'fetch', async (address: string, init: RequestInit) => {
      sent.push([address, init.headers])
      return new Response('[1]', { status: 200, headers: { ETag: '"v1"' } })
    })
  })
  afterEach(() => {
    mock.restoreAll()
    Reflect.deleteProperty(globalThis, 'window')
  })

  test('are returned once, with status and headers', async () => {
    keepEarlyAnswer(READ, requestEarly(READ, 'w1'))
    const answer = await takeEarlyAnswer(ADDRESS, 'w1')
    assert.deepEqual(
      [answer?.status, answer?.headers.get('etag'), await answer?.json()],
      [200, '"v1"', [1]],
    )
    assert.deepEqual(sent, [[ADDRESS, { Accept: 'application/json', 'Terse-Workspace': 'w1' }]])
    assert.equal(await takeEarlyAnswer(ADDRESS, 'w1'), undefined)
  })

  test('of another workspace are not returned', async () => {
    keepEarlyAnswer(READ, requestEarly(READ, 'w1'))
    assert.equal(await takeEarlyAnswer(ADDRESS, 'w2'), undefined)
  })

  test('without a workspace are for all of them', async () => {
    keepEarlyAnswer(READ, requestEarly(READ))
    assert.equal((await takeEarlyAnswer(ADDRESS, 'w1'))?.status, 200)
  })

  test('that are too old are not returned', async () => {
    const early = await requestEarly(READ)
    assert.ok(early)
    keepEarlyAnswer(READ, Promise.resolve({ ...early, atMs: early.atMs - 60_000 }))
    assert.equal(await takeEarlyAnswer(ADDRESS, undefined), undefined)
  })

  test('that failed are requested again by their reader', async () => {
    mock.method(globalThis, 'fetch', async () => {
      throw new TypeError('Failed to fetch')
    })
    keepEarlyAnswer(READ, requestEarly(READ))
    assert.equal(await takeEarlyAnswer(ADDRESS, undefined), undefined)
  })
  test('that their reader has left are not computed to the end', async () => {
    mock.method(globalThis, 'fetch', (_address: string, { signal }: RequestInit) => {
      return new Promise((_, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason))
      })
    })
    const leave = new AbortController()
    keepEarlyAnswer(READ, requestEarly(READ, 'w1', leave.signal), leave)
    const reader = new AbortController()
    const taken = takeEarlyAnswer(ADDRESS, 'w1', reader.signal)
    reader.abort()
    assert.equal(await taken, undefined)
    assert.equal(leave.signal.aborted, true)
  })
})

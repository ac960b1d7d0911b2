import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { BulkLinksAnswer } from '@terse/contract/bulk-links'
import { type BulkResult, type BulkSender, sendBulk, undoOf } from './bulk-links.ts'

const IDS = Array.from({ length: 2_500 }, (_, nth) => `id-${nth}`)
const BUSY = new Error('busy')

function answerTo(ids: readonly string[], done = true): BulkLinksAnswer {
  const results = ids.map((id, index) => ({
    index,
    id,
    status: 'succeeded',
    link: null,
    error: null,
  }))
  return { done, results } as unknown as BulkLinksAnswer
}

/** A sender that records its parts, and fails or answers as `outcomes` say before it succeeds. */
function sender(outcomes: readonly (Error | 'unfinished')[] = [], stopAfter = Infinity) {
  const sent: [number, number][] = []
  const progress: number[] = []
  const waits: number[] = []
  const left = [...outcomes]
  const on: BulkSender<string> = {
    async send(ids, part) {
      sent.push([part, ids.length])
      const outcome = left.shift()
      if (outcome instanceof Error) throw outcome
      return answerTo(ids, outcome !== 'unfinished')
    },
    isTemporary: (error) => error === BUSY,
    wait: async (_error, attempt) => {
      waits.push(attempt)
    },
    onDone: (count) => progress.push(count),
    isStopped: () => progress.length >= stopAfter,
  }
  return { on, sent, progress, waits }
}

describe('sendBulk', () => {
  test('sends parts of 1,000, and reports each', async () => {
    const { on, sent, progress } = sender()
    const { results, error } = await sendBulk(IDS, on)
    assert.deepEqual(sent, [
      [0, 1_000],
      [1, 1_000],
      [2, 500],
    ])
    assert.deepEqual(progress, [1_000, 2_000, 2_500])
    assert.deepEqual([results.length, results.at(-1)?.id, error], [2_500, 'id-2499', undefined])
  })

  test('sends a part again that was not finished, or failed for a time', async () => {
    const { on, sent, waits } = sender(['unfinished', BUSY, BUSY])
    assert.equal((await sendBulk(IDS.slice(0, 5), on)).results.length, 5)
    assert.deepEqual(sent, Array(4).fill([0, 5]))
    assert.deepEqual(waits, [1, 2])
  })

  test('returns what is done, and why the rest is not', async () => {
    for (const outcomes of [[new Error('refused')], Array<Error>(6).fill(BUSY)]) {
      const { on, progress } = sender()
      const send = on.send
      const left = [...outcomes]
      const { results, error } = await sendBulk(IDS, {
        ...on,
        async send(ids, part) {
          const failure = part === 1 ? left.shift() : undefined
          if (failure !== undefined) throw failure
          return send(ids, part)
        },
      })
      assert.deepEqual([results.length, error, progress], [1_000, outcomes[0], [1_000]])
    }
  })

  test('ends before the next part when it is stopped', async () => {
    const { on } = sender([], 1)
    assert.deepEqual((await sendBulk(IDS, on)).results.length, 1_000)
  })
})

function changed(id: string, before: BulkResult['before']): BulkResult {
  return { index: 0, status: 'succeeded', id, link: null, before, error: null }
}

describe('undoOf', () => {
  test('gives each link its own values back', () => {
    const results = [
      changed('a', { expires_at: null }),
      changed('b', { expires_at: '2026-12-01T00:00:00.000000Z' }),
    ]
    assert.deepEqual(undoOf({ expires_at: '2027-01-01T00:00:00Z' }, results), [
      { id: 'a', expires_at: null },
      { id: 'b', expires_at: '2026-12-01T00:00:00.000000Z' },
    ])
  })

  test('takes away only tags that were added, and brings back only those that were taken', () => {
    const changes = { add_tags: ['new', 'both'], remove_tags: ['old', 'unknown', 'both'] }
    const results = [changed('a', { tags: ['old', 'kept'] }), changed('b', { tags: ['both'] })]
    assert.deepEqual(undoOf(changes, results), [
      { id: 'a', add_tags: ['old'], remove_tags: ['new', 'both'] },
      { id: 'b', add_tags: [], remove_tags: ['new'] },
    ])
  })

  test('leaves out links that failed or did not change', () => {
    const failed: BulkResult = { ...changed('a', null), status: 'failed' }
    assert.deepEqual(undoOf({ domain: 'go.example' }, [failed, changed('b', {})]), [])
  })
})

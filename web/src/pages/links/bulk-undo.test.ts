import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { BulkResult } from '../../api/bulk-links.ts'
import { undoOf } from './bulk-undo.ts'

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

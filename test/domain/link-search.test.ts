import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { SEARCH_QUEUE, searchLinks } from '../../src/domain/links/link-search.ts'
import type { LinkQuery, LinkStore } from '../../src/domain/links/link-store.ts'
import { ScanTooLong } from '../../src/domain/scan-too-long.ts'
import { FairQueue } from '../../src/lib/fair-queue.ts'

const QUERY: LinkQuery = {
  workspaceId: 'w',
  offset: 0,
  limit: 25,
  sort: { field: 'key', descending: false },
}

describe('a search that reads for too long', () => {
  for (const [field, filter] of [
    ['search', { search: 'x', tag: 'y' }],
    ['domain', { host: 'go.example' }],
    ['tag', { tag: 'y' }],
    ['sort', {}],
  ] as const) {
    test(`is refused on ${field}, and leaves its place`, async () => {
      const queue = new FairQueue(SEARCH_QUEUE)
      const store = { page: () => Promise.reject(new ScanTooLong()) } as unknown as LinkStore
      await assert.rejects(searchLinks(store, queue, { ...QUERY, ...filter }), (error) => {
        assert.ok(error instanceof Error && 'fields' in error)
        assert.deepEqual(Object.keys(error.fields as object), [field])
        return true
      })
      assert.equal(queue.running, 0)
    })
  }
})

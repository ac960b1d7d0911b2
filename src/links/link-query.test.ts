import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FairQueue } from '../platform/work/fair-queue.ts'
import { ScanTooLong } from '../storage/scans.ts'
import { type LinkFilter, SEARCH_QUEUE, searchLinks } from './link-query.ts'

const ALL: LinkFilter = { workspaceId: 'w' }

describe('searchLinks', () => {
  for (const [field, filter] of [
    ['search', { search: 'x', tags: ['y'] }],
    ['domain', { hosts: ['go.example'] }],
    ['url', { url: 'https://example.com/', tags: ['y'] }],
    ['state', { states: ['expired'] }],
    ['tag', { tags: ['y'] }],
    ['sort', {}],
  ] as const) {
    test(`reports a search that takes too long on the field "${field}", and frees its slot in the queue`, async () => {
      const queue = new FairQueue(SEARCH_QUEUE)
      const read = () => Promise.reject(new ScanTooLong())
      await assert.rejects(searchLinks(queue, { ...ALL, ...filter }, read), (error) => {
        assert.ok(error instanceof Error && 'fields' in error)
        assert.deepEqual(Object.keys(error.fields as object), [field])
        return true
      })
      assert.equal(queue.running, 0)
    })
  }

  test('reads nothing for a client that has gone', async () => {
    const signal = AbortSignal.abort(new Error('gone'))
    const read = async () => assert.fail('read')
    await assert.rejects(searchLinks(new FairQueue(SEARCH_QUEUE), { ...ALL, signal }, read), /gone/)
  })
})

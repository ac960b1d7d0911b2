import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { en } from '../text/en.ts'
import { differencesOf } from './event-differences.ts'

describe('differencesOf', () => {
  test('leaves out values that are equal', () => {
    const before = { domain: 'acme.localhost', status: 'pending', tags: ['one'] }
    const after = { domain: 'acme.localhost', status: 'active', tags: ['one'] }
    assert.deepEqual(differencesOf({ type: 'domain.verified', before, after }, en), [
      { name: 'Status', before: 'pending', after: 'active' },
    ])
  })

  test('includes values that were added and removed', () => {
    const before = { tags: ['one'], ios: 'https://example.com/' }
    const after = { tags: [], ios: null, password: 'changed' }
    const differences = differencesOf({ type: 'link.updated', before, after }, en)
    assert.deepEqual(
      differences.map((one) => [one.before, one.after]),
      [
        ['one', undefined],
        ['https://example.com/', undefined],
        [undefined, 'changed'],
      ],
    )
  })

  test('includes rules whose number stays', () => {
    const before = { rules: [{ id: 'a', then: { url: 'https://example.com/a' } }] }
    const after = { rules: [{ id: 'a', then: { url: 'https://example.com/b' } }] }
    assert.deepEqual(differencesOf({ type: 'link.updated', before, after }, en), [
      { name: 'Rules', before: '1 rule', after: '1 rule' },
    ])
  })

  test('returns nothing for what was created', () => {
    const after = { key: 'sale' }
    assert.deepEqual(differencesOf({ type: 'link.created', before: null, after }, en), [])
  })
})

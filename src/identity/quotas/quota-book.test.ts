import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { NearQuotas } from './quota-book.ts'

describe('NearQuotas', () => {
  test('keeps a workspace for the units that run again, and forgets it after a minute', () => {
    let nowMs = 0
    const near = new NearQuotas(() => nowMs)
    near.note('acme', true)
    near.note('acme', false)
    assert.ok(near.has('acme'), 'another quota of the same unit')
    nowMs = 60_001
    near.note('acme', false)
    assert.ok(!near.has('acme'))
  })

  test('forgets the longest ago when there are too many', () => {
    const near = new NearQuotas()
    for (let index = 0; index <= 10_000; index += 1) near.note(`workspace ${index}`, true)
    assert.ok(!near.has('workspace 0'))
    assert.ok(near.has('workspace 1') && near.has('workspace 10000'))
  })
})

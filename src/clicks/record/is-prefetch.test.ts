import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { rawVisit } from '../../../test/redirect/click/raw-visits.ts'
import { isPrefetch } from './raw-visit.ts'

describe('isPrefetch', () => {
  const ahead = [
    { secPurpose: 'prefetch' },
    { secPurpose: 'prefetch;prerender' },
    { purpose: 'prefetch' },
    { xPurpose: 'preview' },
    { xMoz: 'prefetch' },
  ]
  for (const sent of ahead) {
    test(`recognises ${JSON.stringify(sent)}`, () => assert.ok(isPrefetch(rawVisit(sent))))
  }
  for (const sent of [{}, { purpose: 'navigation' }, { xMoz: 'microsummary' }]) {
    test(`does not match ${JSON.stringify(sent)}`, () => assert.ok(!isPrefetch(rawVisit(sent))))
  }
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { pagesAround } from './pages-around.ts'

describe('pagesAround', () => {
  const CASES = [
    { current: 1, last: 1, pages: [1] },
    { current: 1, last: 3, pages: [1, 2, 3] },
    { current: 1, last: 49, pages: [1, 2, undefined, 49] },
    { current: 4, last: 49, pages: [1, 2, 3, 4, 5, undefined, 49] },
    { current: 25, last: 49, pages: [1, undefined, 24, 25, 26, undefined, 49] },
    { current: 49, last: 49, pages: [1, undefined, 48, 49] },
  ]
  for (const { current, last, pages } of CASES) {
    test(`returns ends and neighbours for page ${current} of ${last}`, () => {
      assert.deepEqual(pagesAround(current, last), pages)
    })
  }
})

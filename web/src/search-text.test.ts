import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { formatSearchText, parseSearchText, positiveOf, textsOf } from './search-text.ts'

describe('the query string of a page', () => {
  test('comes back as it was set, with lists as repeated parameters', () => {
    const text = formatSearchText({ search: 'a & b', tag: ['x', 'y'], page: 3, domain: undefined })
    assert.equal(text, '?search=a+%26+b&tag=x&tag=y&page=3')
    assert.deepEqual(parseSearchText(text), { search: 'a & b', tag: ['x', 'y'], page: '3' })
  })

  test('is empty when nothing is set', () => {
    assert.equal(formatSearchText({ tag: [], page: undefined }), '')
  })

  test('ignores values of the wrong kind', () => {
    for (const value of ['0', '-1', '1.5', 'x', '', undefined, ['1', '2']]) {
      assert.equal(positiveOf(value), undefined, String(value))
    }
    assert.equal(textsOf(''), undefined)
    assert.deepEqual(textsOf('a'), ['a'])
  })
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { formatSearchText, parseSearchText } from '../../search-text.ts'
import { filterOf, parseAnalyticsPageSearch, toggled } from './analytics-search.ts'

const read = (text: string) => parseAnalyticsPageSearch(parseSearchText(text))
/** The address that a page would have after it has read one. */
const kept = (text: string) => formatSearchText(read(text))

describe('parseAnalyticsPageSearch', () => {
  test('keeps all that it knows, also filters by the unknown', () => {
    for (const text of [
      '?country=DE&country=&period=7d&interval=hour',
      '?referrer=&from=2026-11-01&to=2026-11-08&compare=year&measure=bots',
      '?from=2026-11-01T08%3A00%3A00Z&to=2026-11-01T09%3A00%3A00Z&timezone=UTC',
      '?domain=a&link=b&link=c',
    ]) {
      assert.deepEqual(
        [...new URLSearchParams(kept(text))].sort(),
        [...new URLSearchParams(text)].sort(),
      )
    }
  })

  test('leaves out what it does not know', () => {
    for (const text of [
      '?period=9d&interval=minute&compare=x&measure=y&timezone=Nowhere',
      '?from=2026-11-01',
      '?from=2026-11-02&to=2026-11-01',
      '?from=2026-11-02&to=2026-13-01',
      '?from=yesterday&to=tomorrow',
    ]) {
      assert.equal(kept(text), '', text)
    }
  })

  test('takes five links at most', () => {
    assert.deepEqual(read('?link=a&link=b&link=c&link=d&link=e&link=f').link, [...'abcde'])
  })
})

describe('filters', () => {
  test('are the values without the rest of the address', () => {
    assert.deepEqual(filterOf(read('?os=iOS&period=7d')), { os: ['iOS'] })
  })

  test('are added and taken away', () => {
    assert.deepEqual(toggled(undefined, 'DE'), ['DE'])
    assert.deepEqual(toggled(['DE'], 'AT'), ['DE', 'AT'])
    assert.equal(toggled(['DE'], 'DE'), undefined)
  })
})

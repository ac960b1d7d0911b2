import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { destinationOf, originPattern, parseService, proposeKey, withoutTracking } from './page.ts'

describe('proposeKey', () => {
  for (const [title, key] of [
    ['How we moved to two warehouses – Acme', 'how-we-moved-to-two-warehouses'],
    ['Winter collection 2026 | Shop', 'winter-collection-2026'],
    ['Größe & Façade', 'grosse-facade'],
    ['It’s here', 'its-here'],
    ['हिन्दी में', 'हिन्दी-में'],
    ['한국어 페이지', '한국어-페이지'],
    ['a title that is much longer than any key should be', 'a-title-that-is-much-longer-than'],
    ['…', ''],
    ['', ''],
  ] as const) {
    test(`is ${JSON.stringify(key)} for ${JSON.stringify(title)}`, () => {
      assert.equal(proposeKey(title), key)
    })
  }
})

describe('withoutTracking', () => {
  for (const [address, kept, found] of [
    [
      'https://a.example/x?id=1&utm_source=n&q=a%20b#top',
      'https://a.example/x?id=1&q=a%20b#top',
      ['utm_source'],
    ],
    ['https://a.example/?fbclid=1&GCLID=2', 'https://a.example/', ['fbclid', 'GCLID']],
    ['https://a.example/?xutm_source=1', 'https://a.example/?xutm_source=1', []],
    ['https://a.example/?', 'https://a.example/?', []],
  ] as const) {
    test(`leaves ${kept} of ${address}`, () => {
      assert.deepEqual(withoutTracking(address), { address: kept, found })
    })
  }
})

describe('destinationOf', () => {
  for (const [text, address] of [
    ['https://a.example/x', 'https://a.example/x'],
    [' a.example/x ', 'https://a.example/x'],
    ['localhost:3000', undefined],
    ['chrome://settings', undefined],
    ['about:blank', undefined],
    ['javascript:alert(1)', undefined],
    ['', undefined],
  ] as const) {
    test(`is ${address} for ${JSON.stringify(text)}`, () => {
      assert.equal(destinationOf(text), address)
    })
  }
})

describe('parseService', () => {
  for (const [text, origin, isPlain] of [
    ['links.example.com', 'https://links.example.com', false],
    ['https://links.example.com/app/links?x', 'https://links.example.com', false],
    ['http://links.example.com', 'http://links.example.com', true],
    ['localhost:3000', 'http://localhost:3000', false],
    ['127.0.0.1:3000', 'http://127.0.0.1:3000', false],
    ['[::1]:3000', 'http://[::1]:3000', false],
    ['127.0.0.1.evil.example', 'https://127.0.0.1.evil.example', false],
    ['http://127.0.0.1.evil.example', 'http://127.0.0.1.evil.example', true],
  ] as const) {
    test(`is ${origin}${isPlain ? ', in plain text,' : ''} for ${text}`, () => {
      assert.deepEqual(parseService(text), { origin, isPlain })
    })
  }

  for (const text of ['', 'two words', 'https://', 'ftp://links.example.com']) {
    test(`is undefined for ${JSON.stringify(text)}`, () => {
      assert.equal(parseService(text), undefined)
    })
  }
})

describe('originPattern', () => {
  test('has no port: a pattern of Firefox has none', () => {
    assert.equal(originPattern('http://localhost:3000'), 'http://localhost/*')
  })
})

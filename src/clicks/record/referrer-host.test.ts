import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { anyCharacter, cases, webUrl } from '../../../test/support/properties.ts'
import { referrerHost } from './raw-visit.ts'

describe('referrerHost', () => {
  const table: [string | undefined, string][] = [
    [undefined, ''],
    ['', ''],
    ['https://example.com/', 'example.com'],
    ['https://example.com', 'example.com'],
    ['http://News.Example.COM/a/b?c#d', 'news.example.com'],
    ['https://example.com:8443/', 'example.com'],
    ['https://example.com./', 'example.com'],
    ['https://user:secret@example.com/', 'example.com'],
    ['https://example.com?q=https://other.example/', 'example.com'],
    ['https://example.com#@other.example', 'example.com'],
    ['https://example.com\\@other.example', 'example.com'],
    ['https://xn--bcher-kva.example/', 'xn--bcher-kva.example'],
    ['http://192.0.2.1:3000/x', '192.0.2.1'],
    ['http://[2001:db8::1]:3000/x', '[2001:db8::1]'],
    ['android-app://com.google.android.gm/', 'com.google.android.gm'],
    ['HTTPS://EXAMPLE.COM/', 'example.com'],
    ['about:blank', ''],
    ['ftp://example.com/', ''],
    ['example.com', ''],
    ['https:///path', ''],
    ['https://', ''],
    ['https://a b/', ''],
    ['https://b\u00fccher.example/', ''],
    ['https://exa\u0000mple.com/', ''],
    ['https://<script>/', ''],
    [`https://${'a'.repeat(254)}/`, ''],
    [`https://example.com/${'a'.repeat(20_000)}`, 'example.com'],
    [`https://${'a'.repeat(20_000)}`, ''],
  ]
  for (const [referer, host] of table) {
    test(`returns ${host || 'no host'} for ${String(referer).slice(0, 60)}`, () =>
      assert.equal(referrerHost(referer), host))
  }

  test('agrees with the URL Standard for every web address', () => {
    fc.assert(
      fc.property(webUrl, (referer) => {
        assert.equal(referrerHost(referer), new URL(referer).hostname)
      }),
      cases(200),
    )
  })

  test('returns at most 253 plain characters, for any header', () => {
    const anything = fc
      .string({ unit: anyCharacter, maxLength: 600 })
      .map((rest) => `https://${rest}`)
    fc.assert(
      fc.property(anything, (referer) => {
        assert.match(referrerHost(referer), /^[a-z0-9._:[\]-]{0,253}$/)
      }),
      cases(200),
    )
  })
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { faultText } from '@terse/contract/faults'
import fc from 'fast-check'
import { anyCharacter, cases } from '../../test/support/properties.ts'
import { systemRandom } from '../platform/crypto/random.ts'
import { foldKey, generateKey, isServicePath, parseKey, reservationOf } from './key.ts'

const MARK = '\u0301'

describe('parseKey', () => {
  const accepted: [string, string][] = [
    ['a', 'a'],
    ['Spring-Sale_2026.v1~x', 'Spring-Sale_2026.v1~x'],
    ['a/b/c', 'a/b/c'],
    ['...', '...'],
    ['.well-known', '.well-known'],
    ['日本語', '日本語'],
    ['हिन्दी', 'हिन्दी'],
    ['٣', '٣'],
    [`cafe${MARK}`, 'café'],
    ['ſ', 'ſ'],
    ['𝒜', '𝒜'],
    ['😀', '😀'],
    ['party-🎉/2026', 'party-🎉/2026'],
    ['❤', '❤'],
    ['❤️', '❤️'],
    ['👍🏽', '👍🏽'],
    ['👩‍👩‍👧‍👦', '👩‍👩‍👧‍👦'],
    ['👁️‍🗨️', '👁️‍🗨️'],
    ['👩🏽‍🚀', '👩🏽‍🚀'],
    ['🇩🇪🇫🇷', '🇩🇪🇫🇷'],
    ['🏴󠁧󠁢󠁳󠁣󠁴󠁿', '🏴󠁧󠁢󠁳󠁣󠁴󠁿'],
    ['5️⃣', '5️⃣'],
    ['😀'.repeat(190), '😀'.repeat(190)],
    ['k'.repeat(190), 'k'.repeat(190)],
    ['𝒜'.repeat(190), '𝒜'.repeat(190)],
    [`e${MARK}`.repeat(190), 'é'.repeat(190)],
  ]
  for (const [text, key] of accepted) {
    test(`accepts "${text.slice(0, 24)}" of ${text.length} UTF-16 units`, () =>
      assert.deepEqual(parseKey(text), { value: key }))
  }

  const refused: [string, RegExp][] = [
    ['', /not be empty/],
    ['k'.repeat(191), /at most 190/],
    ['k'.repeat(5_000), /at most 190/],
    ['a b', /only letters/],
    ['a?b', /only letters/],
    ['a#b', /only letters/],
    ['a%20b', /only letters/],
    ['a\\b', /only letters/],
    ['a:b', /only letters/],
    ['a\r\nb', /only letters/],
    ['a\n', /only letters/],
    ['a\u0000', /only letters/],
    ['a\u200db', /only letters/],
    ['\u202eabc', /only letters/],
    ['\ud800', /only letters/],
    ['😀\u200d', /only letters/],
    ['\u200d😀', /only letters/],
    ['a\u200d😀', /only letters/],
    ['😀\u200d\u200d😀', /only letters/],
    ['🇩', /only letters/],
    ['🇩🇪🇫', /only letters/],
    ['\u{E0067}\u{E007F}', /only letters/],
    ['🏴\u{E0067}\u{E0062}', /only letters/],
    ['#️⃣', /only letters/],
    [`${'❤️'.repeat(90)}!`, /only letters/],
    ['/a', /begin or end/],
    ['a/', /begin or end/],
    ['a//b', /"\/\/"/],
    ['/', /begin or end/],
    ['.', /segment/],
    ['..', /segment/],
    ['a/../b', /segment/],
    ['a/.', /segment/],
  ]
  for (const [text, fault] of refused) {
    test(`refuses ${JSON.stringify(text.slice(0, 24))} of ${text.length} UTF-16 units`, () => {
      const parsed = parseKey(text)
      assert.ok('fault' in parsed)
      assert.match(faultText(parsed.fault), fault)
    })
  }

  test('accepts what it returned and leaves it unchanged', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, minLength: 1, maxLength: 8 }), (text) => {
        const parsed = parseKey(text)
        if ('value' in parsed) assert.deepEqual(parseKey(parsed.value), parsed)
      }),
      cases(500),
    )
  })
})

describe('foldKey', () => {
  const same: [string, string][] = [
    ['AbC', 'abc'],
    ['ÄÖÜ', 'äöü'],
    ['ΣΊΣΥΦΟΣ', 'σίσυφος'],
    ['STRAẞE', 'straße'],
    ['ДОМ', 'дом'],
    [`CAFE${MARK}`, 'café'],
    ['Ǆ', 'ǅ'],
    ['Ꭰ', 'ꭰ'],
  ]
  for (const [one, other] of same) {
    test(`is the same for ${one} and ${other}`, () => assert.equal(foldKey(one), foldKey(other)))
  }

  const different: [string, string][] = [
    ['strasse', 'straße'],
    ['resume', 'résumé'],
    ['a/b', 'ab'],
    ['ﬁ', 'fi'],
    ['ı', 'ı̇'],
  ]
  for (const [one, other] of different) {
    test(`differs for ${one} and ${other}`, () => assert.notEqual(foldKey(one), foldKey(other)))
  }

  test('is the same for every letter and its other cases, and folding twice changes nothing', () => {
    for (let point = 0; point <= 0x10_ffff; point += 1) {
      const letter = String.fromCodePoint(point).normalize('NFC')
      if ([...letter].length !== 1 || !/^[\p{L}\p{M}\p{N}]$/u.test(letter)) continue
      const folded = foldKey(letter)
      assert.equal(foldKey(folded), folded, letter)
      for (const other of [letter.toLowerCase(), letter.toUpperCase()]) {
        // ß has the upper case SS and ŉ has ʼN: other words, not other cases.
        if (other.length === letter.length) assert.equal(foldKey(other), folded, letter)
      }
    }
  })

  test('folds each character independently of its neighbours', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...'aBςΣσßẞİıÉé9-_/')), (characters) => {
        assert.equal(foldKey(characters.join('')), characters.map(foldKey).join(''))
      }),
      cases(500),
    )
  })
})

describe('isServicePath', () => {
  const SERVED = [
    ...['', 'api', 'API', 'api/v1/links', 'docs', 'app', 'assets/x', '.well-known/acme', 'livez'],
    ...['readyz', 'metrics', 'oembed', 'robots.txt', 'favicon.ico', 'Favicon.ICO'],
  ]
  for (const path of SERVED) {
    test(`is true for /${path}`, () => assert.ok(isServicePath(`/${path}`)))
  }
  for (const path of ['apis', 'my/api', 'api-docs', 'robots', 'documents', 'login', 'sw.js']) {
    test(`is false for /${path}`, () => assert.ok(!isServicePath(`/${path}`)))
  }
})

describe('reservationOf', () => {
  const MEMBER = { kind: 'person', isOperator: false }
  const FOR_OPERATORS = [
    ...['login', 'Sign-In', 'logout', 'signup', 'register', 'admin/users', 'account', 'settings'],
    ...['sw.js', 'service-worker.js', 'manifest.webmanifest', 'browserconfig.xml', 'sitemap.xml'],
    ...['security.txt', 'humans.txt', 'ads.txt', 'app-ads.txt', 'apple-app-site-association'],
    ...['favicon.png', 'favicon-32x32.png', 'apple-touch-icon.png', 'mstile-150x150.png'],
    ...['apple-touch-icon-120x120-precomposed.png', 'android-chrome-192x192.png'],
  ]
  for (const key of FOR_OPERATORS) {
    test(`leaves ${key} to operators`, () => {
      const reserved = { code: 'reserved', reason: 'operators' }
      assert.deepEqual(reservationOf(key, MEMBER), reserved)
      assert.deepEqual(reservationOf(key, { kind: 'token', isOperator: false }), reserved)
      assert.equal(reservationOf(key, { kind: 'person', isOperator: true }), undefined)
      assert.equal(reservationOf(key, { kind: 'system', isOperator: false }), undefined)
    })
  }

  test('refuses the paths of the service to everybody', () => {
    for (const key of ['api/x', 'App']) {
      assert.deepEqual(reservationOf(key, { kind: 'system', isOperator: false }), {
        code: 'reserved',
        reason: 'service',
      })
    }
  })

  for (const key of ['logins', 'my/login', 'ads', 'icon', 'favicons.png', 'sw', 'settings-2']) {
    test(`leaves ${key} to all`, () => assert.equal(reservationOf(key, MEMBER), undefined))
  }
})

describe('generateKey', () => {
  test('uses each unambiguous character at every place, about equally often', () => {
    const counts = new Map<string, number>()
    const keys = 4_000
    for (let index = 0; index < keys; index += 1) {
      const key = generateKey(systemRandom)
      assert.match(key, /^[23456789abcdefghjkmnpqrstuvwxyz]{7}$/)
      assert.deepEqual(parseKey(key), { value: key })
      for (const character of key) counts.set(character, (counts.get(character) ?? 0) + 1)
    }
    assert.equal(counts.size, 31)
    const expected = (keys * 7) / 31
    // Six standard deviations of a count: fails by chance in a few of 10^8 runs.
    const tolerance = 6 * Math.sqrt(expected)
    for (const [character, count] of counts) {
      assert.ok(Math.abs(count - expected) < tolerance, `${character}: ${count} of ${expected}`)
    }
  })
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { AGENTS } from '../../../test/redirect/agents.ts'
import { KNOWN_AGENTS } from '../../../test/redirect/click/agents.ts'
import { rawVisit } from '../../../test/redirect/click/raw-visits.ts'
import { anyCharacter, cases, webUrl } from '../../../test/support/properties.ts'
import { BROWSER } from '../../../test/support/visit.ts'
import { CLICK_FLAGS } from '../click.ts'
import {
  type Device,
  firstLanguage,
  isPrefetch,
  parseUserAgent,
  referrerHost,
} from './raw-visit.ts'

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

describe('firstLanguage', () => {
  const table: [string | undefined, string][] = [
    [undefined, ''],
    ['', ''],
    ['de', 'de'],
    ['de-DE,de;q=0.9,en;q=0.8', 'de'],
    ['EN-us', 'en'],
    ['en,fr', 'en'],
    ['fr;q=0.5', 'fr'],
    [' pt-BR', 'pt'],
    ['gsw-CH', 'gsw'],
    ['zh_CN', ''],
    ['*', ''],
    ['x-klingon', ''],
    ['english', ''],
    ['d', ''],
    ['de\u00df', ''],
    [' '.repeat(100_000), ''],
    ['a'.repeat(100_000), ''],
  ]
  for (const [header, language] of table) {
    test(`returns ${language || 'no language'} for ${String(header).slice(0, 40)}`, () =>
      assert.equal(firstLanguage(header), language))
  }
})

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

/** Ten thousand times the usual cost: a slow machine passes, catastrophic backtracking does not. */
const READING_MICROS_MAX = 100_000

describe('parseUserAgent', () => {
  const table: [string, string | undefined, Device, number][] = [
    ['Chrome on a computer', BROWSER, 'other', 0],
    ['an iPhone', AGENTS.iPhone, 'ios', 0],
    ['an iPad', AGENTS.iPad, 'ios', 0],
    ['an Android phone', AGENTS.android, 'android', 0],
    ['curl', AGENTS.curl, 'other', 0],
    ['Wget', 'Wget/1.21.4', 'other', 0],
    ['a search engine', AGENTS.googlebot, 'other', CLICK_FLAGS.bot],
    ['a search engine as a phone', AGENTS.googlebotPhone, 'android', CLICK_FLAGS.bot],
    ['a preview for a chat', AGENTS.slackbot, 'other', CLICK_FLAGS.bot],
    ['a bot that begins like curl', 'curlbot/1.0', 'other', CLICK_FLAGS.bot],
    ['no user agent', undefined, 'other', CLICK_FLAGS.noUserAgent],
    ['an empty user agent', '', 'other', CLICK_FLAGS.noUserAgent],
    ['a user agent of spaces', '  ', 'other', CLICK_FLAGS.noUserAgent],
  ]
  for (const [what, agent, device, flags] of table) {
    test(`recognises ${what}, also from its cache`, () => {
      for (let time = 1; time <= 2; time += 1) {
        const facts = parseUserAgent(agent)
        assert.deepEqual([facts.device, facts.flags], [device, flags])
      }
    })
  }

  for (const { what, agent, read } of KNOWN_AGENTS) {
    test(`returns the device, system and browser of ${what}`, () => {
      const { kind, os, browser } = parseUserAgent(agent)
      assert.deepEqual([kind, os, browser], read)
    })
  }

  test('reads only the first 512 characters of a user agent', () => {
    const facts = parseUserAgent(`${BROWSER}${' '.repeat(512)}iPhone`)
    assert.equal(facts.device, 'other')
    assert.deepEqual(facts, parseUserAgent(`${BROWSER}${' '.repeat(512)}`.slice(0, 512)))
  })

  test('returns only names from closed lists, for any user agent', () => {
    const word = fc.constantFrom(
      'Mozilla/5.0',
      'Their/1.0',
      '(',
      ')',
      ';',
      'Android',
      'like',
      'bot',
    )
    const agent = fc
      .array(fc.oneof(word, fc.string({ unit: 'binary-ascii' })), { maxLength: 12 })
      .map((words) => words.join(' '))
    const [kinds, systems, browsers] = [new Set<string>(), new Set<string>(), new Set<string>()]
    fc.assert(
      fc.property(agent, (text) => {
        const { kind, os, browser } = parseUserAgent(text)
        kinds.add(kind)
        systems.add(os)
        browsers.add(browser)
        for (const name of [kind, os, browser]) assert.match(name, /^[A-Za-z0-9 ._+-]{0,40}$/)
      }),
      cases(2_000),
    )
    // Two thousand random agents yield few different names, because the lists are closed.
    for (const names of [kinds, systems, browsers]) assert.ok(names.size < 40, `${names.size}`)
  })

  test('stays fast for user agents that provoke backtracking', () => {
    // The parts that the parser’s and the bot list’s patterns repeat, which is where backtracking begins.
    const pump = fc.constantFrom(
      ...[
        ' ',
        '/',
        '0',
        '1.',
        'a',
        '(',
        ';',
        '; ',
        '-',
        'android',
        'Android ',
        'droid ',
        'Chrome/1 ',
      ],
      ...['Safari/', 'version/1', 'Mobile ', 'like ', 'linux; ', 'Error_', 'Build/', 'sm-', 'bot'],
    )
    const pumps = fc.array(pump, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(''))
    const prefix = fc.constantFrom(
      '',
      'Mozilla/5.0 (',
      'Mozilla/5.0 (Linux; U; Android 9; ',
      'version/',
    )
    fc.assert(
      fc.property(prefix, pumps, pump, (start, middle, end) => {
        const agent = (start + middle.repeat(512)).slice(0, 512 - end.length) + end
        // CPU time, because a busy machine may interrupt this thread.
        const before = process.threadCpuUsage()
        parseUserAgent(agent)
        const { user } = process.threadCpuUsage(before)
        assert.ok(user < READING_MICROS_MAX, JSON.stringify(agent))
      }),
      cases(500),
    )
  })
})

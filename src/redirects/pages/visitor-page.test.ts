import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, test } from 'node:test'
import { PAGE_POLICY } from './page.ts'
import type { PageTexts } from './texts/page-texts.ts'
import { DEFAULT_TEXTS, TEXTS } from './texts/texts-by-language.ts'
import { renderVisitorPage, type VisitorPage } from './visitor-page.ts'

const OEMBED_URL = 'https://service.example/oembed'
const PAGE_BYTES_MAX = 5 * 1_024
const STYLE_BYTES_MAX = 2.5 * 1_024

const PAGES: readonly VisitorPage[] = [
  { kind: 'unknown-host' },
  { kind: 'not-found' },
  { kind: 'loop' },
  { kind: 'expired', expiredAtMs: Date.UTC(2026, 7, 31, 23, 59) },
  { kind: 'used-up' },
  { kind: 'preview', shown: null, leadsTo: null, oembedUrl: OEMBED_URL },
  { kind: 'password', isWrong: false },
  { kind: 'password', isWrong: true },
  { kind: 'too-many-attempts', waitSeconds: 42 },
  { kind: 'busy', waitSeconds: 2 },
  { kind: 'unavailable' },
  { kind: 'elsewhere' },
  { kind: 'invalid-request' },
]

const ENGLISH = DEFAULT_TEXTS

const inLanguage = (language: string) => TEXTS.get(language) ?? DEFAULT_TEXTS

function render(
  page: VisitorPage,
  { texts = ENGLISH, host = 'go.example.com', path = '/press-kit' } = {},
): string {
  const bytes = renderVisitorPage(page, texts, { host, path, query: '' })
  return Buffer.from(bytes, 'latin1').toString()
}

const contentsOf = (html: string, element: string): string[] =>
  [...html.matchAll(new RegExp(`<${element}\\b[^>]*>([^]*?)</${element}>`, 'g'))].map(
    ([, text]) => text ?? '',
  )

/** Everything a catalogue says besides days and durations, with "…" for what is inserted. */
function sentencesOf(texts: PageTexts): string[] {
  return textsIn({ ...texts, months: [], day: [], wait: [] })
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value === 'function') return [value('…')]
  return Object.values(value as object).flatMap(textsIn)
}

describe('PAGE_POLICY', () => {
  test('allows nothing but the pages’ own style', () => {
    const [style = ''] = contentsOf(render({ kind: 'not-found' }), 'style')
    const hash = createHash('sha256').update(style).digest('base64')
    assert.deepEqual(PAGE_POLICY.split('; ').sort(), [
      "base-uri 'none'",
      "default-src 'none'",
      "frame-ancestors 'none'",
      `style-src 'sha256-${hash}'`,
    ])
    assert.ok(style.length <= STYLE_BYTES_MAX, `${style.length}`)
    assert.doesNotMatch(style, /transition|animation/, 'nothing moves')
  })
})

describe('the texts of a language', () => {
  const english = sentencesOf(ENGLISH)
  /** The same word in both languages. */
  const shared = new Set(['en', 'Password'])

  for (const [language, texts] of TEXTS) {
    test(`are complete and in the language: ${language}`, () => {
      const all = sentencesOf(texts)
      assert.equal(all.length, english.length)
      for (const text of all) {
        assert.match(text, /^\S(.*\S)?$/)
        assert.doesNotMatch(text, / {2}|\.\.|undefined|['"<>&]/, text)
        if (language === 'en' || shared.has(text)) continue
        assert.ok(!english.includes(text), `English: ${text}`)
      }
      assert.equal(Intl.getCanonicalLocales(texts.tag)[0], texts.tag)
    })
  }
})

for (const [language, texts] of TEXTS) {
  for (const page of PAGES) {
    describe(`the page ${Object.values(page).join(' ')} in ${language}`, () => {
      const html = render(page, { texts })
      // The longest key: 190 characters of four bytes.
      const longest = render(page, {
        texts,
        host: `${'a.'.repeat(126)}a`,
        path: `/${encodeURIComponent('𠀀'.repeat(190))}`,
      })

      test('is small', () => {
        const bytes = Buffer.byteLength(html)
        assert.ok(bytes < PAGE_BYTES_MAX, `${bytes}`)
        assert.ok(Buffer.byteLength(longest) < bytes + 2_048)
      })

      test('declares its language, and has one title equal to its one heading', () => {
        assert.ok(html.startsWith(`<!doctype html>\n<html lang="${texts.tag}">\n`))
        assert.match(html, /<meta charset="utf-8">/)
        assert.match(html, /<meta name="viewport" content="width=device-width, initial-scale=1">/)
        const [title = ''] = contentsOf(html, 'title')
        assert.ok(title.length > 3)
        assert.deepEqual(contentsOf(html, 'h1'), [title])
        assert.equal(contentsOf(html, 'main').length, 1)
        assert.doesNotMatch(html, /undefined|\[object|=> /)
      })

      test('contains no script, no style that the policy forbids, and no external resource', () => {
        assert.doesNotMatch(html, /<(script|link|img|iframe|object|embed|base|video|audio)\b/i)
        assert.doesNotMatch(html, /\s(style|on\w+|src|action)=/i)
        assert.doesNotMatch(html, /\shref="[^"]/)
        assert.doesNotMatch(html, /url\(|@import|https?:/i)
        assert.equal(contentsOf(html, 'style').length, 1)
      })
    })
  }
}

describe('the password form', () => {
  test('labels its field, needs no script, and sends the password alone', () => {
    const html = render({ kind: 'password', isWrong: false })
    assert.match(html, /<form method="post">/)
    assert.match(html, /<label for="password">Password<\/label>/)
    assert.match(html, /<input id="password" name="password" type="password" required autofocus /)
    assert.match(html, /<button type="submit">Continue</)
    assert.equal([...html.matchAll(/ name="(?!viewport|robots)/g)].length, 1)
    assert.doesNotMatch(html, /aria-invalid=|role="alert"/)
  })

  test('announces a wrong password to screen readers too', () => {
    const html = render({ kind: 'password', isWrong: true })
    assert.match(html, /<p role="alert" id="wrong">.*That password is incorrect\./)
    assert.match(html, /<input [^>]*aria-invalid="true" aria-describedby="wrong"/)
  })

  test('names the link to password managers, with its key escaped', () => {
    const userNameOf = (path: string) =>
      /autocomplete="username" value="([^"]*)" readonly hidden>/.exec(
        render({ kind: 'password', isWrong: false }, { path }),
      )?.[1]
    assert.equal(userNameOf('/press-kit'), 'press-kit')
    assert.equal(userNameOf('/m%C3%BCnchen/'), 'münchen')
    assert.equal(userNameOf('/%22%3E%3Cscript%3E'), '&quot;&gt;&lt;script&gt;')
  })
})

describe('the address on a page', () => {
  const addressIn = (page: VisitorPage, host: string, path: string) =>
    /<p class="address"[^>]*>(.*?)<\/p>/.exec(render(page, { host, path }))?.[1]

  const CASES: readonly [VisitorPage['kind'], host: string, path: string, shown: string][] = [
    ['not-found', 'go.acme.com', '/autum-sale', 'go.acme.com/<b>autum-sale</b>'],
    ['not-found', 'go.acme.com', '/a/b/', 'go.acme.com/<b>a/b</b>'],
    ['not-found', 'go.acme.com', '/m%C3%BCnchen', 'go.acme.com/<b>münchen</b>'],
    ['not-found', 'xn--mnchen-3ya.example', '/x', 'münchen.example/<b>x</b>'],
    // What no key can be is not repeated.
    ['not-found', 'go.acme.com', '/', '<b>go.acme.com</b>'],
    ['not-found', 'go.acme.com', '/call%20us%20at%20555', '<b>go.acme.com</b>'],
    ['not-found', 'go.acme.com', '/%3Cscript%3E', '<b>go.acme.com</b>'],
    ['not-found', 'go.acme.com', '/a%E2%80%AEb', '<b>go.acme.com</b>'],
    ['not-found', 'go.acme.com', '/%ff', '<b>go.acme.com</b>'],
    ['not-found', 'go.acme.com', `/${'a'.repeat(191)}`, '<b>go.acme.com</b>'],
    ['unknown-host', 'go.acme.com', '/x', '<b>go.acme.com</b>'],
    [
      'unknown-host',
      'xn--mnchen-3ya.example',
      '/x',
      '<b>münchen.example (xn--mnchen-3ya.example)</b>',
    ],
    [
      'unknown-host',
      `<img src=x onerror='a("&")'>`,
      '/x',
      '<b>&lt;img src=x onerror=&#39;a(&quot;&amp;&quot;)&#39;&gt;</b>',
    ],
  ]
  for (const [kind, host, path, shown] of CASES) {
    test(`is ${shown} for ${host}${path.slice(0, 40)}, ${kind}`, () =>
      assert.equal(addressIn({ kind } as VisitorPage, host, path), shown))
  }
})

/** Spaces that do not break are shown as `_`. */
function textOf(page: VisitorPage, texts: PageTexts): string {
  const [, text = ''] = /<p>(.*?)<\/p>/.exec(render(page, { texts })) ?? []
  return text.replaceAll('\u00a0', '_')
}

describe('the page for an expired link', () => {
  const CASES: readonly [string, RegExp][] = [
    ['en', /^It expired on 1_September 2026 \(UTC\)\./],
    ['de', /^Er ist am 1\._September 2026 \(UTC\) abgelaufen\./],
    ['fr', /^Il a expiré le 1er_septembre 2026 \(UTC\)\./],
    ['es', /^Caducó el 1_de septiembre de 2026 \(UTC\)\./],
    ['it', /^Data di scadenza: 1_settembre 2026 \(UTC\)\./],
    ['pt', /^Ele expirou em 1º_de setembro de 2026 \(UTC\)\./],
    ['nl', /^Hij is op 1_september 2026 \(UTC\) verlopen\./],
    ['pl', /^Wygasł 1_września 2026 \(UTC\)\./],
    ['ja', /^2026年9月1日（UTC）に期限が切れました。/],
    ['zh', /^此链接已于2026年9月1日（UTC）过期。/],
  ]
  for (const [language, expected] of CASES) {
    test(`names the day in ${language}`, () => {
      const page = { kind: 'expired', expiredAtMs: Date.UTC(2026, 8, 1) } as const
      assert.match(textOf(page, inLanguage(language)), expected)
    })
  }

  test('agrees with Unicode’s data in every language', () => {
    for (const [language, { day, months, tag }] of TEXTS) {
      const format = new Intl.DateTimeFormat(tag, { dateStyle: 'long', timeZone: 'UTC' })
      for (let month = 0; month < 12; month += 1) {
        // Only the first day of a month differs, and only in some languages.
        const expected = format.format(Date.UTC(2026, month, 23))
        const british = expected.replace(/^(\w+) 23, /, '23 $1 ')
        const text = day(23, months[month] ?? '', 2026).replace('\u00a0', ' ')
        assert.equal(text, language === 'en' ? british : expected)
      }
    }
  })

  test('names the 11th as a cardinal in French', () => {
    const page = { kind: 'expired', expiredAtMs: Date.UTC(2026, 8, 11) } as const
    assert.match(textOf(page, inLanguage('fr')), /le 11_septembre 2026/)
  })
})

describe('the page for too many attempts', () => {
  test('agrees with Unicode’s data in every language', () => {
    for (const [language, { wait }] of TEXTS) {
      const format = new Intl.RelativeTimeFormat(language)
      // Chinese has two words for it.
      const plain = (text: string) => text.replace(/[\s\u2060]/g, '').replace('秒钟', '秒')
      for (let seconds = 1; seconds <= 125; seconds += 1) {
        assert.equal(plain(wait(seconds)), plain(format.format(seconds, 'second')))
      }
    }
  })

  const CASES: readonly [string, seconds: number, RegExp][] = [
    ['en', 42, /try again in 42_seconds\.$/],
    ['en', 1, /try again in 1_second\.$/],
    ['de', 1, /in 1_Sekunde noch einmal versuchen\.$/],
    ['de', 42, /in 42_Sekunden noch einmal versuchen\.$/],
    ['fr', 2, /dans 2_secondes\.$/],
    ['es', 2, /dentro de 2_segundos\.$/],
    ['it', 2, /tra 2_secondi\.$/],
    ['pt', 2, /em 2_segundos\.$/],
    ['nl', 2, /over 2_seconden opnieuw proberen\.$/],
    ['pl', 1, /za 1_sekundę\.$/],
    ['pl', 3, /za 3_sekundy\.$/],
    ['pl', 5, /za 5_sekund\.$/],
    ['ja', 42, /42\u2060秒後にもう一度お試しください。$/],
    ['zh', 42, /您可以在42\u2060秒后重试。$/],
  ]
  for (const [language, waitSeconds, expected] of CASES) {
    test(`says how long to wait in ${language}: ${waitSeconds} s`, () => {
      const texts = inLanguage(language)
      assert.match(textOf({ kind: 'too-many-attempts', waitSeconds }, texts), expected)
      assert.match(textOf({ kind: 'busy', waitSeconds }, texts), expected)
    })
  }
})

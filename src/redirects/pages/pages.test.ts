import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, test } from 'node:test'
import { PAGE_POLICY, type PageContent, renderPage } from './page.ts'
import {
  EXPIRED_PAGE,
  INVALID_REQUEST_PAGE,
  NOT_FOUND_PAGE,
  passwordPage,
  tooManyAttemptsPage,
  UNAVAILABLE_PAGE,
  unknownHostPage,
} from './visitor-pages.ts'

const PAGE_BYTES_MAX = 4 * 1_024

const PAGES: readonly [string, PageContent][] = [
  ['an unknown host', unknownHostPage('go.example.com')],
  ['an unknown host of the greatest length', unknownHostPage(`${'a.'.repeat(126)}a`)],
  ['an unknown key', NOT_FOUND_PAGE],
  ['an expired link', EXPIRED_PAGE],
  ['an unavailable store', UNAVAILABLE_PAGE],
  ['an invalid request', INVALID_REQUEST_PAGE],
  ['too many attempts', tooManyAttemptsPage(42)],
  ['a password', passwordPage(false)],
  ['a wrong password', passwordPage(true)],
]

const contentsOf = (html: string, element: string) =>
  [...html.matchAll(new RegExp(`<${element}[^>]*>([^]*?)</${element}>`, 'g'))].map(
    ([, text]) => text,
  )

describe('PAGE_POLICY', () => {
  test('allows nothing but the pages’ own style', () => {
    const [style = ''] = contentsOf(renderPage(NOT_FOUND_PAGE), 'style')
    const hash = createHash('sha256').update(style).digest('base64')
    const directives = PAGE_POLICY.split('; ')
    assert.deepEqual(directives.sort(), [
      "base-uri 'none'",
      "default-src 'none'",
      "frame-ancestors 'none'",
      `style-src 'sha256-${hash}'`,
    ])
  })
})

for (const [name, content] of PAGES) {
  describe(`the page for ${name}`, () => {
    const html = renderPage(content)

    test('is at most 4 KiB', () =>
      assert.ok(Buffer.byteLength(html) < PAGE_BYTES_MAX, `${html.length}`))

    test('declares its language, fits a phone, and has one title equal to its one heading', () => {
      assert.match(html, /^<!doctype html>\n<html lang="en">/)
      assert.match(html, /<meta charset="utf-8">/)
      assert.match(html, /<meta name="viewport" content="width=device-width, initial-scale=1">/)
      assert.deepEqual(contentsOf(html, 'title'), [content.title])
      assert.deepEqual(contentsOf(html, 'h1'), [content.title])
      assert.equal(contentsOf(html, 'main').length, 1)
    })

    test('contains no script, no style that the policy forbids, and no external resource', () => {
      assert.doesNotMatch(html, /<(script|link|img|iframe|object|embed|base|svg|video|audio)\b/i)
      assert.doesNotMatch(html, /\s(style|on\w+|src|href|action)=/i)
      assert.doesNotMatch(html, /url\(|@import|https?:/i)
      assert.equal(contentsOf(html, 'style').length, 1)
    })
  })
}

describe('the password form', () => {
  test('labels its field and needs no script', () => {
    const html = renderPage(passwordPage(false))
    assert.match(html, /<label for="password">Password<\/label>/)
    assert.match(html, /<input id="password" name="password" type="password" required/)
    assert.match(html, /<button type="submit">/)
    assert.doesNotMatch(html, /aria-invalid|role="alert"/)
  })

  test('announces a wrong password to screen readers too', () => {
    const html = renderPage(passwordPage(true))
    assert.match(html, /<p role="alert" id="wrong">That is not the password\.<\/p>/)
    assert.match(html, /<input [^>]*aria-invalid="true" aria-describedby="wrong"/)
  })
})

describe('the page for too many attempts', () => {
  test('shows how long to wait', () => {
    assert.match(tooManyAttemptsPage(42).body, /wait 42 seconds,/)
    assert.match(tooManyAttemptsPage(1).body, /wait 1 second,/)
  })
})

describe('the page for an unknown host', () => {
  test('shows the host, an international one in both forms', () => {
    assert.match(unknownHostPage('go.example.com').body, /<strong>go\.example\.com<\/strong>/)
    assert.match(
      unknownHostPage('xn--mnchen-3ya.example').body,
      /<strong>münchen\.example \(xn--mnchen-3ya\.example\)<\/strong>/,
    )
  })

  test('escapes HTML', () => {
    const { body } = unknownHostPage(`<img src=x onerror='a("&")'>`)
    assert.doesNotMatch(body, /<img|'|"/)
    assert.match(body, /&lt;img src=x onerror=&#39;a\(&quot;&amp;&quot;\)&#39;&gt;/)
  })
})

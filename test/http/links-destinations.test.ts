import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import fc from 'fast-check'
import { expectStatus } from '../support/api.ts'
import { expectInvalid } from '../support/expect-invalid.ts'
import { createLink, DESTINATION_FIELDS, type LinkBody, postLink } from '../support/links.ts'
import { onSqlite } from '../support/on-each-engine.ts'
import { anyCharacter, cases } from '../support/properties.ts'

const LENGTH_MAX = 8_192

/** Destinations that every field accepts, and how they are stored. */
const ACCEPTED: readonly (readonly [sent: string, kept: string])[] = [
  ['https://example.com', 'https://example.com/'],
  ['http://example.com/a?b=c&d=e#f', 'http://example.com/a?b=c&d=e#f'],
  ['HTTPS://EXAMPLE.COM/Path', 'https://example.com/Path'],
  ['https://example.com:8443/', 'https://example.com:8443/'],
  ['https://example.com/a/../b', 'https://example.com/b'],
  [
    'https://münchen.example/straße?ü=ö#ä',
    'https://xn--mnchen-3ya.example/stra%C3%9Fe?%C3%BC=%C3%B6#%C3%A4',
  ],
  ['https://example.com/🎉', 'https://example.com/%F0%9F%8E%89'],
  ['https://example.com/a b', 'https://example.com/a%20b'],
  ['https://192.0.2.1/', 'https://192.0.2.1/'],
  ['https://[2001:db8::1]/', 'https://[2001:db8::1]/'],
  [longUrl(LENGTH_MAX), longUrl(LENGTH_MAX)],
]

const REFUSED: readonly (readonly [what: string, sent: unknown])[] = [
  ['javascript:', 'javascript:alert(1)'],
  ['javascript: in capitals', 'JavaScript:alert(1)'],
  ['javascript: behind a space', ' javascript:alert(1)'],
  ['data:', 'data:text/html,<script>alert(1)</script>'],
  ['vbscript:', 'vbscript:msgbox(1)'],
  ['file:', 'file:///etc/passwd'],
  ['blob:', 'blob:https://example.com/0c4b7a4e'],
  ['about:', 'about:blank'],
  ['ftp:', 'ftp://example.com/'],
  ['magnet:', 'magnet:?xt=urn:btih:1'],
  ['a scheme not listed in TERSE_APP_SCHEMES', 'otherapp://open'],
  ['no scheme', 'example.com/page'],
  ['a path alone', '/page'],
  ['a host without a scheme', '//example.com/page'],
  ['a scheme without a host', 'https://'],
  ['an impossible port', 'https://example.com:99999/'],
  ['a user name', 'https://user@example.com/'],
  ['a password', 'https://user:secret@example.com/'],
  ['a password without a user name', 'https://:secret@example.com/'],
  ['a line break at the end', 'https://example.com/\r\nSet-Cookie: a=b'],
  ['a line feed in the middle', 'https://example.com/a\nb'],
  ['a carriage return in the host', 'https://exam\rple.com/'],
  ['a line break at the start', '\r\nhttps://example.com/'],
  ['a tab', 'https://example.com/a\tb'],
  ['a null byte', 'https://example.com/\u0000'],
  ['half a surrogate pair', 'https://example.com/\ud800'],
  ['more than 8,192 characters', longUrl(LENGTH_MAX + 1)],
  ['more than 8,192 characters once encoded', `https://example.com/${'ü'.repeat(4_000)}`],
  ['an empty text', ''],
  ['a number', 5],
  ['an object', { href: 'https://example.com/' }],
  ['a list', ['https://example.com/']],
]

function longUrl(length: number): string {
  return 'https://example.com/'.padEnd(length, 'a')
}

function inEveryField(value: unknown): Record<string, unknown> {
  return Object.fromEntries(DESTINATION_FIELDS.map((field) => [field, value]))
}

function abridged(text: string): string {
  return text.length > 80 ? `a URL of ${text.length.toLocaleString('en')} characters` : text
}

onSqlite('the destinations of a link', (stage) => {
  let existing: LinkBody
  before(async () => {
    existing = await createLink(stage.api)
  })

  for (const [sent, kept] of ACCEPTED) {
    test(`every field accepts ${abridged(sent)}`, async () => {
      const fields = inEveryField(sent)
      const created = await createLink(stage.api, fields)
      const updated = expectStatus(await stage.api.patch(`/links/${existing.id}`, fields), 200).body
      for (const field of DESTINATION_FIELDS) {
        assert.equal(created[field], kept, field)
        assert.equal(updated[field], kept, field)
      }
    })
  }

  for (const [what, sent] of REFUSED) {
    test(`every field returns 422 for ${what}`, async () => {
      const fields = inEveryField(sent)
      expectInvalid(await postLink(stage.api, fields), ...DESTINATION_FIELDS)
      const updated = await stage.api.patch(`/links/${existing.id}`, fields)
      expectInvalid(updated, ...DESTINATION_FIELDS)
    })
  }

  test('a stored destination is safe in a header, for any text', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...DESTINATION_FIELDS),
        fc.constantFrom('https://example.com/', 'https://', 'http://a?', ''),
        fc.string({ unit: anyCharacter }),
        async (field, start, rest) => {
          const answer = await postLink(stage.api, { [field]: start + rest })
          if (answer.status === 422) expectInvalid(answer, field)
          else assert.match(expectStatus(answer, 201).body[field], /^https?:\/\/[\x21-\x7e]+$/)
        },
      ),
      cases(100),
    )
  })
})

const LISTED = { TERSE_APP_SCHEMES: 'myapp, spotify:, javascript,data,file' }

onSqlite(
  'ios and android with TERSE_APP_SCHEMES',
  (stage) => {
    const KEPT = [
      ['myapp://open/page?id=5', 'myapp://open/page?id=5'],
      ['spotify:track:11dFghVXANMlKmJXsNCbNl', 'spotify:track:11dFghVXANMlKmJXsNCbNl'],
      ['MYAPP://open', 'myapp://open'],
      ['myapp://grüße', 'myapp://gr%C3%BC%C3%9Fe'],
      ['myapp:grüße', 'myapp:gr%C3%BC%C3%9Fe'],
      ['https://example.com/', 'https://example.com/'],
    ] as const

    for (const field of ['ios', 'android'] as const) {
      test(`${field} accepts the listed schemes, http and https`, async () => {
        for (const [sent, kept] of KEPT) {
          assert.equal((await createLink(stage.api, { [field]: sent }))[field], kept)
        }
      })

      for (const sent of [
        'javascript:alert(1)',
        'data:text/html,hello',
        'file:///etc/passwd',
        'otherapp://open',
        'myapp://user@open',
        'myapp://open\r\nSet-Cookie: a=b',
      ]) {
        test(`${field} still returns 422 for ${JSON.stringify(sent)}`, async () => {
          expectInvalid(await postLink(stage.api, { [field]: sent }), field)
        })
      }
    }

    test('url and expired_redirect_url refuse the listed schemes', async () => {
      for (const field of ['url', 'expired_redirect_url']) {
        expectInvalid(await postLink(stage.api, { [field]: 'myapp://open' }), field)
      }
    })
  },
  LISTED,
)

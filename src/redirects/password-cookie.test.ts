import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { preparedLink } from '../../test/redirect/prepared-links.ts'
import { passwordCookies } from './password.ts'

const NOW_MS = Date.UTC(2026, 0, 1)
const LIFETIME_MS = 10 * 60 * 1_000

const password = (sealed: string) => ({ sealed, linkId: 'link', workspaceId: 'workspace' })
const link = preparedLink({ password: password('sealed_one') })
const cookies = passwordCookies(randomBytes(32))
const pairOf = (setCookie: string) => setCookie.split(';', 1)[0] ?? ''
const pair = pairOf(cookies.issue(link, '/key', false, NOW_MS))
const [name = '', value = ''] = pair.split('=')

describe('the password cookie', () => {
  test('has a path, a lifetime, HttpOnly and SameSite', () => {
    assert.equal(
      cookies.issue(link, '/key', false, NOW_MS),
      `${pair}; Path=/key; Max-Age=600; HttpOnly; SameSite=Lax`,
    )
  })

  test('is Secure when the visit was encrypted', () => {
    assert.match(cookies.issue(link, '/key', true, NOW_MS), /; HttpOnly; SameSite=Lax; Secure$/)
  })

  test('is accepted for ten minutes and not a millisecond longer', () => {
    assert.ok(cookies.accepts(link, pair, NOW_MS))
    assert.ok(cookies.accepts(link, pair, NOW_MS + LIFETIME_MS - 1))
    assert.ok(!cookies.accepts(link, pair, NOW_MS + LIFETIME_MS))
  })

  const headers: [string, string, boolean][] = [
    ['alone', pair, true],
    ['between others', `a=b; ${pair}; c=d`, true],
    ['without spaces', `a=b;${pair};c=d`, true],
    ['under another name', `other_${pair}`, false],
    ['as part of another value', `a=${pair}`, false],
    ['when truncated', pair.slice(0, -1), false],
    ['with a character appended', `${pair}x`, false],
    ['with a later expiry', `${name}=9${value}`, false],
    ['with another signature', `${name}=${value.split('.')[0]}.${'A'.repeat(43)}`, false],
    ['when empty', '', false],
  ]
  for (const [what, header, accepted] of headers) {
    test(`is ${accepted ? 'accepted' : 'refused'} ${what}`, () =>
      assert.equal(cookies.accepts(link, header, NOW_MS), accepted))
  }

  const others = [
    ['another link', preparedLink({ seq: 2, password: password('sealed_one') })],
    ['the same link with a new password', preparedLink({ password: password('sealed_two') })],
  ] as const
  for (const [what, other] of others) {
    test(`is refused for ${what}`, () => assert.ok(!cookies.accepts(other, pair, NOW_MS)))
  }

  test('is refused when it was signed with another key', () => {
    assert.ok(!passwordCookies(randomBytes(32)).accepts(link, pair, NOW_MS))
  })

  test('is refused when there is none', () => {
    assert.ok(!cookies.accepts(link, undefined, NOW_MS))
  })
})

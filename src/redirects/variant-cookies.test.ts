import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { variantCookies } from './variant-cookies.ts'

const NOW_MS = Date.UTC(2026, 5, 1)
const DAY_MS = 24 * 60 * 60 * 1000
const cookies = variantCookies(Buffer.alloc(32, 1))
const SPLIT = { linkSeq: 7, rule: 'abc' }
const KEPT = { variant: 'Größe; 1.5', days: 30 }

function issued(secure = false): string {
  return cookies.issue(SPLIT, KEPT, { path: '/shop', secure }, NOW_MS)
}

const sent = () => `a=b; ${issued().split(';', 1)[0]}; c=d`

describe('variantCookies', () => {
  test('find the variant that they were issued for', () =>
    assert.equal(cookies.find(SPLIT, sent(), NOW_MS), KEPT.variant))

  test('are first-party, and not for scripts', () => {
    assert.match(issued(), /; Path=\/shop; Max-Age=2592000; HttpOnly; SameSite=Lax$/)
    assert.match(issued(true), /; Secure$/)
  })

  const refused: [string, typeof SPLIT, string | undefined, number][] = [
    ['no cookie', SPLIT, undefined, NOW_MS],
    ['another rule', { ...SPLIT, rule: 'ab' }, sent(), NOW_MS],
    ['another link', { ...SPLIT, linkSeq: 8 }, sent(), NOW_MS],
    ['a later time', SPLIT, sent(), NOW_MS + 30 * DAY_MS],
    ['a changed variant', SPLIT, sent().replace('=Gr', '=gr'), NOW_MS],
    ['a cookie that is not encoded', SPLIT, sent().replace('=Gr', '=%%'), NOW_MS],
  ]
  for (const [what, split, header, nowMs] of refused) {
    test(`find none for ${what}`, () => assert.equal(cookies.find(split, header, nowMs), undefined))
  }
})

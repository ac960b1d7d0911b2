import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { CLICK_FLAGS } from '../../src/domain/clicks/click.ts'
import { type Device, factsOfAgent, isPrefetch } from '../../src/redirect/visitor.ts'
import { BROWSER } from '../support/visit.ts'
import { AGENTS } from './agents.ts'

describe('factsOfAgent', () => {
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
    test(`knows ${what}, also the second time`, () => {
      assert.deepEqual(factsOfAgent(agent), { device, flags })
      assert.deepEqual(factsOfAgent(agent), { device, flags })
    })
  }

  test('reads no more than the beginning of a user agent', () => {
    assert.equal(factsOfAgent(`${BROWSER}${' '.repeat(512)}iPhone`).device, 'other')
  })
})

describe('isPrefetch', () => {
  const ahead = [
    { 'sec-purpose': 'prefetch' },
    { 'sec-purpose': 'prefetch;prerender' },
    { purpose: 'prefetch' },
    { 'x-purpose': 'preview' },
    { 'x-moz': 'prefetch' },
  ]
  for (const headers of ahead) {
    test(`knows ${JSON.stringify(headers)}`, () => assert.ok(isPrefetch(headers)))
  }
  for (const headers of [{}, { purpose: 'navigation' }, { 'x-moz': 'microsummary' }]) {
    test(`takes ${JSON.stringify(headers)} for a person`, () => assert.ok(!isPrefetch(headers)))
  }
})

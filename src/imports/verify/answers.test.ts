import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { answerFromHttp, compareAnswers, type LinkAnswer, spelling } from './answers.ts'

const to = (location: string): LinkAnswer => ({ kind: 'redirect', status: 302, location })
const PAGE: LinkAnswer = { kind: 'page', status: 200, location: null }
const GONE: LinkAnswer = { kind: 'gone', status: 410 }
const SILENT: LinkAnswer = { kind: 'unknown', status: null, reason: 'it does not answer' }

describe('compareAnswers', () => {
  const compared: [string, LinkAnswer, LinkAnswer, string][] = [
    ['the same destination', to('https://a.example/x'), to('https://a.example/x'), 'same'],
    ['another destination', to('https://a.example/x'), to('https://a.example/y'), 'different'],
    ['http in place of https', to('https://a.example/'), to('http://a.example/'), 'different'],
    ['a protected link that is protected', PAGE, PAGE, 'same'],
    ['a banned link that is expired', PAGE, GONE, 'same'],
    ['a protected link that is open', PAGE, to('https://a.example/'), 'different'],
    ['an expired link that is open', GONE, to('https://a.example/'), 'different'],
    ['an open link that asks for a password', to('https://a.example/'), PAGE, 'different'],
    ['an open link that is gone', to('https://a.example/'), GONE, 'different'],
    ['no answer of the old service', SILENT, to('https://a.example/'), 'unknown'],
    ['no answer of Terse', to('https://a.example/'), SILENT, 'unknown'],
  ]
  for (const [name, before, now, verdict] of compared) {
    test(`finds ${name} ${verdict}`, () => {
      const comparison = compareAnswers(before, now)
      assert.equal(comparison.verdict, verdict)
      if (comparison.verdict !== 'same') assert.match(comparison.reason, /^[A-Z].*\.$/)
    })
  }
})

describe('spelling', () => {
  const same: [string, string][] = [
    ['https://EXAMPLE.com', 'https://example.com/'],
    ['https://bücher.example/käse', 'https://xn--bcher-kva.example/k%c3%a4se'],
    ['https://a.example/?q=two+words', 'https://a.example/?q=two%20words'],
    ['https://a.example/?b=1&a=2', 'https://a.example/?a=2&b=1'],
    ["https://a.example/it's", 'https://a.example/it%27s'],
    ['https://a.example/#größe', 'https://a.example/#gr%C3%B6%C3%9Fe'],
  ]
  for (const [one, other] of same) {
    test(`is the same for ${one} and ${other}`, () => assert.equal(spelling(one), spelling(other)))
  }

  const different: [string, string][] = [
    ['https://a.example/x', 'https://a.example/X'],
    ['https://a.example/x', 'https://a.example/x/'],
    ['https://a.example/a%2Fb', 'https://a.example/a/b'],
    ['https://a.example/?a=1&a=2', 'https://a.example/?a=2&a=1'],
    ['https://a.example:8443/', 'https://a.example/'],
    ['mailto:a@a.example', 'mailto:b@a.example'],
  ]
  for (const [one, other] of different) {
    test(`differs for ${one} and ${other}`, () => assert.notEqual(spelling(one), spelling(other)))
  }
})

describe('answerFromHttp', () => {
  const url = new URL('https://go.example.com/abc')
  const read: [number, string | undefined, LinkAnswer][] = [
    [301, 'https://a.example', { kind: 'redirect', status: 301, location: 'https://a.example/' }],
    [
      302,
      Buffer.from('https://a.example/ü').toString('latin1'),
      { kind: 'redirect', status: 302, location: 'https://a.example/%C3%BC' },
    ],
    [
      302,
      '/protected/1',
      { kind: 'page', status: 302, location: 'https://go.example.com/protected/1' },
    ],
    [200, undefined, PAGE],
    [410, undefined, GONE],
    [302, undefined, { kind: 'unknown', status: 302, reason: 'it answers with status 302' }],
    [503, undefined, { kind: 'unknown', status: 503, reason: 'it answers with status 503' }],
  ]
  for (const [status, location, answer] of read) {
    test(`reads ${status} to ${location} as ${answer.kind}`, () => {
      assert.deepEqual(answerFromHttp(url, status, location), answer)
    })
  }
})

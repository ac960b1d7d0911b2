import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type PeerService, peerOptions } from './peer-options.ts'

const U = 'https://u.example/'
const PREVIEW = { title: 'A title', description: 'A text', image: 'https://i.example/og.png' }

describe('peerOptions', () => {
  const cases: readonly [string, PeerService, object, object, readonly string[]][] = [
    [
      'a preview that Dub shows',
      ...(['dub', { ...PREVIEW, proxy: true, comments: 'Of May' }] as const),
      { notes: 'Of May', ...PREVIEW },
      ['comments', 'title', 'description', 'image'],
    ],
    ['the title of a destination at Dub', 'dub', { ...PREVIEW, proxy: false }, {}, []],
    [
      'a preview of Sink, and a query that is dropped',
      ...(['sink', { ...PREVIEW, redirectWithQuery: false }] as const),
      { query: 'drop', ...PREVIEW },
      ['redirectWithQuery', 'title', 'description', 'image'],
    ],
    [
      'a preview and the title of Short.io',
      ...(['shortio', { title: 'Mine', 'og:title': 'Shown', clicksLimit: 5 }] as const),
      { notes: 'Mine', max_clicks: 5, title: 'Shown' },
      ['title', 'clicksLimit', 'og:title'],
    ],
    ['a title of YOURLS that is the destination', 'yourls', { title: U }, {}, []],
    [
      'values that say nothing',
      ...(['shlink', { maxVisits: 0, validSince: 'soon', title: '', forwardQuery: true }] as const),
      {},
      [],
    ],
  ]
  for (const [what, service, values, options, taken] of cases) {
    test(`reads ${what}`, () => {
      assert.deepEqual(peerOptions(service, { ...values }, U), { options, taken })
    })
  }
})

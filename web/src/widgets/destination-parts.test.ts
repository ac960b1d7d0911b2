import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { destinationParts, shortDestination } from './destination-parts.ts'

describe('destinationParts', () => {
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ['https://www.acme.com/', ['', 'acme.com', '', '', '']],
    ['https://acme.com/download', ['', 'acme.com', '', '/download', '']],
    [
      'https://www.acme.com/shop/collections/autumn-2026?ref=shortlink#top',
      ['', 'acme.com', '/shop/collections', '/autumn-2026', '?ref=shortlink#top'],
    ],
    ['https://acme.com/shop/', ['', 'acme.com', '', '/shop', '']],
    ['https://acme.com/?id=7', ['', 'acme.com', '', '?id=7', '']],
    [
      'https://acme-exhibition-files-2026.s3.eu-central-1.amazonaws.com/munich/hall.pdf',
      ['acme-exhibition-files-2026.s3.eu-central-1.', 'amazonaws.com', '/munich', '/hall.pdf', ''],
    ],
    [
      'https://summer-campaign.shop.acme.co.uk/sale',
      ['summer-campaign.shop.', 'acme.co.uk', '', '/sale', ''],
    ],
    [
      'http://[2001:db8:0:1:2:3:4:5678]:8080/x',
      ['', '[2001:db8:0:1:2:3:4:5678]:8080', '', '/x', ''],
    ],
    ['https://acme.com/item/%7Bid%7D', ['', 'acme.com', '/item', '/{id}', '']],
    ['mailto:sales@acme.com', ['', '', '', 'mailto:sales@acme.com', '']],
  ]
  for (const [url, parts] of cases) {
    test(`splits ${url}`, () => {
      const { front, domain, middle, last, query } = destinationParts(url)
      assert.deepEqual([front, domain, middle, last, query], parts)
    })
  }

  test('loses nothing of a destination but what its short form leaves out', () => {
    for (const [url] of cases.slice(1)) {
      const joined = Object.values(destinationParts(url)).join('')
      assert.equal(joined, shortDestination(url).replace('com/?', 'com?'))
    }
  })
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { linkValues } from './link-dimensions.ts'

const LINK = {
  url: 'https://example.com/',
  tags: '["a","b"]',
  utm_source: null,
  utm_medium: null,
  utm_campaign: null,
}

describe('linkValues', () => {
  test('has the tags and the UTM values of a link', () => {
    const row = { ...LINK, utm_medium: 'email', utm_campaign: 'spring' }
    assert.deepEqual(linkValues(row), {
      tag: ['a', 'b'],
      utm_source: [],
      utm_medium: ['email'],
      utm_campaign: ['spring'],
    })
  })

  test('takes a UTM value from the destination only where the link has none', () => {
    const url = 'https://example.com/?utm_medium=print&utm_campaign=caf%C3%A9+au&utm_source='
    const values = linkValues({ ...LINK, url, utm_medium: 'email' })
    assert.deepEqual(values, {
      tag: ['a', 'b'],
      utm_source: [],
      utm_medium: ['email'],
      utm_campaign: ['café au'],
    })
  })

  test('takes nothing from a destination that only contains the text', () => {
    const url = 'mailto:utm_campaign=@example.com'
    assert.deepEqual(linkValues({ ...LINK, url }).utm_campaign, [])
  })
})

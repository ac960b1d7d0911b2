import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { en } from '../../text/en.ts'
import { formatsOf } from '../../text/formats.ts'
import { restoredBy, revertedFields, sentencesOf } from './change-sentences.ts'

type Fields = Readonly<Record<string, unknown>>

const cases: readonly (readonly [Fields | null, Fields, readonly string[]])[] = [
  [null, { url: 'https://a.test/' }, ['created this link']],
  [
    { url: 'https://www.a.test/x' },
    { url: 'https://b.test/{1}' },
    ['changed the destination from a.test/x to b.test/{1}'],
  ],
  [{ utm_source: null }, { utm_source: 'mail' }, ['set the UTM source to mail']],
  [{ tags: ['a', 'b'] }, { tags: [] }, ['removed the tags: a, b']],
  [{ max_clicks: 500 }, { max_clicks: 15_000 }, ['changed the limit of clicks from 500 to 15,000']],
  [{ archived: false }, { archived: true }, ['archived this link']],
  [{ archived: true }, { archived: false }, ['took this link out of the archive']],
  [{ notes: null }, { notes: 'x'.repeat(4_000) }, ['changed the note']],
  [{ rules: null }, { rules: [{}] }, ['changed the rules']],
  [{}, { password: 'changed' }, ['changed the password']],
  [{ later: null }, { later: 'x' }, ['set later to x']],
]

describe('sentencesOf', () => {
  for (const [before, after, sentences] of cases) {
    test(`says "${sentences.join('; ')}"`, () => {
      const told = sentencesOf({ before, after }, en, formatsOf('en-GB'))
      const texts = told.map((parts) => parts.map(({ text }) => text).join(''))
      assert.deepEqual(texts, sentences)
    })
  }
})

describe('restoredBy', () => {
  test('has the earliest value of each field, and what no log has', () => {
    const restored = restoredBy([
      { before: { url: 'c' }, after: { url: 'd', password: 'changed' } },
      { before: { url: 'b', key: 'k' }, after: { url: 'c', key: 'l' } },
    ])
    assert.deepEqual(restored, { values: { url: 'b', key: 'k' }, kept: ['password'] })
    assert.deepEqual(revertedFields(restored), ['url', 'key'])
    assert.equal(revertedFields({ ...restored, kept: [] }), undefined)
  })
})

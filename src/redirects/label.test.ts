import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { cases } from '../../test/support/properties.ts'
import { takeLabel } from './label.ts'

const FACE = '😀'

describe('takeLabel', () => {
  for (const [query, label, rest] of [
    ['', '', ''],
    ['a=1', '', 'a=1'],
    ['via=newsletter', 'newsletter', ''],
    ['a=1&via=newsletter&b', 'newsletter', 'a=1&b'],
    ['via=a&via=b&c=%zz', 'a', 'c=%zz'],
    ['via', '', ''],
    ['via=', '', ''],
    ['viable=1&trivia=2', '', 'viable=1&trivia=2'],
    ['VIA=a', '', 'VIA=a'],
    ['%76ia=a', '', '%76ia=a'],
    ['via=spring+sale', 'spring sale', ''],
    ['via=%20%20x%20', 'x', ''],
    ['via=Gr%C3%B6%C3%9Fe', 'Größe', ''],
    ['via=a%00b', '', ''],
    ['via=a%0Ab&a=1', '', 'a=1'],
    ['via=%C3', '', ''],
    ['via=%', '', ''],
    [`via=${'x'.repeat(81)}`, 'x'.repeat(80), ''],
    [`via=${'x'.repeat(79)}${encodeURIComponent(FACE)}`, 'x'.repeat(79), ''],
    [`via=${'x'.repeat(79)}%20y`, 'x'.repeat(79), ''],
  ] as const) {
    test(`reads ${JSON.stringify(label)} from "${query.slice(0, 40)}"`, () => {
      assert.deepEqual(takeLabel(query, 'via'), { label, query: rest })
    })
  }

  test('takes nothing where labels are off', () => {
    assert.deepEqual(takeLabel('via=a&b', null), { label: '', query: 'via=a&b' })
  })

  test('returns a label that fits into a click, and leaves every other parameter as it was', () => {
    const text = fc.string({ unit: 'binary', maxLength: 100 })
    const other = fc.string({ unit: fc.constantFrom('v', 'i', 'a', '=', '%', '4', 'x') })
    fc.assert(
      fc.property(text, fc.array(other), fc.nat(), (value, others, place) => {
        const texts = [...others]
        texts.splice(
          place % (texts.length + 1),
          0,
          `via=${encodeURIComponent(value.toWellFormed())}`,
        )
        const { label, query } = takeLabel(texts.join('&'), 'via')
        assert.ok(label.isWellFormed() && Buffer.byteLength(label) <= 240)
        const isLabel = (each: string) => each === 'via' || each.startsWith('via=')
        assert.equal(query, texts.filter((each) => !isLabel(each)).join('&'))
      }),
      cases(300),
    )
  })
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isScannable, parseColor } from '@terse/contract/module-color'
import fc from 'fast-check'
import { cases } from '../../../test/support/properties.ts'
import { parseModuleColor } from './qr-code.ts'

describe('parseModuleColor', () => {
  const accepted: [string, { red: number; green: number; blue: number }][] = [
    ['#000000', { red: 0, green: 0, blue: 0 }],
    ['#0B57D0', { red: 11, green: 87, blue: 208 }],
    ['#ff0000', { red: 255, green: 0, blue: 0 }],
    // The palest grey that scanners still read as dark, with some margin.
    ['#787878', { red: 120, green: 120, blue: 120 }],
  ]
  for (const [text, color] of accepted) {
    test(`accepts ${text}`, () => assert.deepEqual(parseModuleColor(text), { value: color }))
  }

  for (const text of [
    '#ffffff',
    '#797979',
    '#16ac00',
    '#ffff00',
    '#00ff00',
    '#ff8080',
    '#87ceeb',
  ]) {
    test(`refuses ${text} as too pale`, () => {
      const parsed = parseModuleColor(text)
      assert.ok('fault' in parsed)
      assert.deepEqual(parsed.fault, { code: 'too_pale' })
    })
  }

  for (const text of [
    '',
    'red',
    '000000',
    '#000',
    '#00000',
    '#0000000',
    '#00000g',
    '#000000ff',
    ' #000000',
    '#000000\n',
  ]) {
    test(`refuses ${JSON.stringify(text)} as malformed`, () => {
      const parsed = parseModuleColor(text)
      assert.ok('fault' in parsed)
      assert.deepEqual(parsed.fault, { code: 'invalid_color' })
    })
  }

  test('accepts every colour at least as dark in each channel as an accepted one', () => {
    const channel = fc.integer({ min: 0, max: 255 })
    const hex = (channels: number[]) =>
      `#${channels.map((value) => value.toString(16).padStart(2, '0')).join('')}`
    fc.assert(
      fc.property(fc.array(fc.tuple(channel, channel), { minLength: 3, maxLength: 3 }), (pairs) => {
        const paler = hex(pairs.map(([a, b]) => Math.max(a, b)))
        const darker = hex(pairs.map(([a, b]) => Math.min(a, b)))
        if ('value' in parseModuleColor(paler)) assert.ok('value' in parseModuleColor(darker))
      }),
      cases(500),
    )
  })
})

describe('isScannable', () => {
  for (const [text, expected] of [
    ['#000000', true],
    ['#006b4f', true],
    ['#1d4ed8', true],
    // WCAG's own example of 4.5 to 1 on white is #767676.
    ['#767676', true],
    ['#949494', false],
    ['#ffd400', false],
    ['#ffffff', false],
  ] as const) {
    test(`is ${expected} for ${text}`, () => {
      const color = parseColor(text)
      assert.ok(color)
      assert.equal(isScannable(color), expected)
    })
  }
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { formatTable, plainJson, plainText } from './terminal.ts'

const HOSTILE = 'a\u001b[31mred\u001b]0;title\u0007\r\nb\u009b2Jc\u202ed'

describe('plainText', () => {
  test('removes escape sequences, control characters and changes of direction', () => {
    assert.doesNotMatch(plainText(HOSTILE), /[\p{Cc}\u202e]/u)
    assert.match(plainText(HOSTILE), /^a ?red/)
  })
})

describe('plainJson', () => {
  test('escapes them, and gives back the same value', () => {
    const text = plainJson({ a: HOSTILE })
    assert.doesNotMatch(text.replaceAll('\n', ''), /[\p{Cc}\u202e]/u)
    assert.deepEqual(JSON.parse(text), { a: HOSTILE })
  })
})

describe('formatTable', () => {
  test('keeps a cell in its row', () => {
    const lines = formatTable(['A', 'B'], [[HOSTILE, 'x']]).split('\n')
    assert.equal(lines.length, 2)
    assert.doesNotMatch(lines[1] ?? '', /\p{Cc}/u)
  })
})

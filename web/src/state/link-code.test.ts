import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { codeOf } from './link-code.ts'

describe('codeOf', () => {
  const CASES: readonly (readonly [text: string, code: string | undefined])[] = [
    ['#code=a-_9', 'a-_9'],
    ['https://terse.example/app/setup#code=abc', 'abc'],
    ['#x=1&code=abc&y=2', 'abc'],
    ['abc', undefined],
    ['#code=', undefined],
  ]
  for (const [text, code] of CASES) {
    test(`returns ${code} for "${text}"`, () => {
      assert.equal(codeOf(text), code)
    })
  }
})

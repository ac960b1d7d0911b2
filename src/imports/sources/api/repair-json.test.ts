import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { importFixture } from '../../../../test/support/import-sources.ts'
import { cases } from '../../../../test/support/properties.ts'
import { repairJson } from './repair-json.ts'

describe('repairJson', () => {
  test('repairs what Bitly sends', () => {
    const text = readFileSync(importFixture('bitly/bitlinks-invalid-json.txt'), 'utf8')
    assert.throws(() => JSON.parse(text))
    const [link] = JSON.parse(repairJson(text)).links
    assert.equal(link.title, 'line\none "quoted"')
    assert.equal(link.long_url, 'https://example.com/bad\\path')
  })

  const repaired: [string, unknown][] = [
    ['{"a": "tab\there"}', { a: 'tab\there' }],
    ['["\\u00e9 \\n \\"x\\" \\q"]', ['é \n "x" \\q']],
    ['{"a": "", "b": "x"y, z", "c": null}', { a: '', b: 'x"y, z', c: null }],
    ['{"a": "ends with "quotes""}', { a: 'ends with "quotes"' }],
  ]
  for (const [text, value] of repaired) {
    test(`repairs ${JSON.stringify(text)}`, () => {
      assert.deepEqual(JSON.parse(repairJson(text)), value)
    })
  }

  test('leaves the meaning of JSON as it is', () => {
    // Texts with `",` and the like are ambiguous only where JSON is broken; escaped quotes stay.
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value)
        assert.deepEqual(JSON.parse(repairJson(text)), JSON.parse(text))
      }),
      cases(300),
    )
  })
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { csvLine, likelyText, originalText } from '@terse/contract/csv'
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { cases } from '../../test/support/properties.ts'

/** The signs that matter, more often than others would bring them together. */
const cellText = fc
  .array(fc.constantFrom(...'\'=+-@＝＋－＠;,"|\t\r\n a\u3000'), { maxLength: 12 })
  .map((signs) => signs.join(''))

describe('csvLine', () => {
  const CASES = [
    { cells: ['a', '', 'b c', -1], line: '"a","","b c","-1"\r\n' },
    { cells: ['a,b', 'say "hi"', 'two\nlines'], line: '"a,b","say ""hi""","two\nlines"\r\n' },
    { cells: ['=1+1', '+1', '-1', '@a'], line: `"'=1+1","'+1","'-1","'@a"\r\n` },
    { cells: ['＝1', '＋1', '－1', '＠a'], line: `"'＝1","'＋1","'－1","'＠a"\r\n` },
    { cells: ['\t=1', '\r=1', ' =1'], line: `"'\t'=1","'\r'=1","' =1"\r\n` },
    {
      cells: ['a;=1', 'a\t@b', 'a\n+1', 'a; ＝1'],
      line: `"a;'=1","a\t'@b","a\n'+1","a;' ＝1"\r\n`,
    },
    { cells: ["'a", "it's", 'a=b;c'], line: `"''a","it's","a=b;c"\r\n` },
  ]
  for (const { cells, line } of CASES) {
    test(`formats ${JSON.stringify(cells)}`, () => assert.equal(csvLine(cells), line))
  }

  test('gives every cell back', () => {
    fc.assert(
      fc.property(fc.array(cellText, { minLength: 1, maxLength: 4 }), (cells) => {
        const [read = []] = parse(csvLine(cells)) as string[][]
        assert.deepEqual(read.map(originalText), cells)
      }),
      cases(2_000),
    )
  })

  test('gives no formula to a spreadsheet, whatever separator that expects', () => {
    fc.assert(
      fc.property(fc.array(cellText, { minLength: 1, maxLength: 4 }), (cells) => {
        // Spreadsheets take what is behind a separator for a cell, also between the quotes of another one.
        for (const separator of [/[;\r\n]/, /[\t\r\n]/]) {
          for (const part of csvLine(cells).split(separator)) {
            assert.doesNotMatch(part, /^[ \u3000]*[=+\-@＝＋－＠]/)
          }
        }
      }),
      cases(2_000),
    )
  })
})

test('likelyText keeps the apostrophes of others', () => {
  const read = ["'=1", "''a", "'quoted'", "it's", "a;'@b"].map(likelyText)
  assert.deepEqual(read, ['=1', "'a", "'quoted'", "it's", 'a;@b'])
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { csvLine } from './csv-line.ts'

describe('csvLine', () => {
  const cases = [
    { cells: ['a', '', 'b c'], line: 'a,,b c\r\n' },
    { cells: ['a,b', 'say "hi"', 'two\nlines'], line: '"a,b","say ""hi""","two\nlines"\r\n' },
    { cells: ['=1+1', '+1', '-1', '@a'], line: "'=1+1,'+1,'-1,'@a\r\n" },
    { cells: ['\t=1', '\r=1'], line: '\'\t=1,"\'\r=1"\r\n' },
    { cells: ['=1,"2"'], line: '"\'=1,""2"""\r\n' },
  ]
  for (const { cells, line } of cases) {
    test(`formats ${JSON.stringify(cells)}`, () => assert.equal(csvLine(cells), line))
  }

  test('marks a leading apostrophe too, so that removing one restores each cell', () => {
    const cells = ["'=1", "'", "''a", '=1', 'plain']
    const restored = csvLine(cells)
      .trimEnd()
      .split(',')
      .map((cell) => cell.replace(/^'/, ''))
    assert.deepEqual(restored, cells)
  })
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { notableRows, parseCsv } from './report-rows.ts'

describe('parseCsv', () => {
  const cases: readonly [text: string, lines: readonly (readonly string[])[]][] = [
    ['', []],
    [
      'a,b\r\n1,2\r\n',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    [
      'a,b\n1,',
      [
        ['a', 'b'],
        ['1', ''],
      ],
    ],
    ['"a ""b""","c,\r\nd"\r\n', [['a "b"', 'c,\r\nd']]],
    [',\r\n', [['', '']]],
  ]
  for (const [text, lines] of cases) {
    test(`reads ${JSON.stringify(text)}`, () => assert.deepEqual(parseCsv(text), lines))
  }
})

describe('notableRows', () => {
  const HEADER = 'number,place,old_link,outcome,locked,closed,link,link_id,reason,source_row\r\n'

  test('leaves out created rows without a reason, and keeps the first of the others', () => {
    const csv = `${HEADER}1,line 2,a,created,,,,,,\r\n2,line 3,'-b,refused,,,,,No URL,x\r\n3,line 4,c,created,yes,,,,"The password, is new",\r\n4,line 5,d,skipped,,,,,Taken,\r\n`
    const rows = notableRows(csv, 2)
    assert.deepEqual(
      rows.map(({ oldLink, outcome, isLocked, reason }) => [oldLink, outcome, isLocked, reason]),
      [
        ['-b', 'refused', false, 'No URL'],
        ['c', 'created', true, 'The password, is new'],
      ],
    )
  })
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { notableRows, parseCsv, sendParts } from './imports.ts'

const MIB = 1024 * 1024

function sender(failures: readonly number[], isTemporary = true) {
  const sent: [offset: number, bytes: number][] = []
  const reported: number[] = []
  const waits: number[] = []
  let calls = 0
  return {
    sent,
    reported,
    waits,
    async send(offset: number, part: Blob) {
      calls += 1
      if (failures.includes(calls)) throw new Error('cut off')
      sent.push([offset, part.size])
    },
    onSent: (bytes: number) => reported.push(bytes),
    isTemporary: () => isTemporary,
    async wait(attempt: number) {
      waits.push(attempt)
    },
  }
}

describe('sendParts', () => {
  const file = new Blob([new Uint8Array(9 * MIB)])

  test('sends each byte once, in parts of 4 MiB', async () => {
    const parts = sender([])
    await sendParts(file, parts)
    assert.deepEqual(parts.sent, [
      [0, 4 * MIB],
      [4 * MIB, 4 * MIB],
      [8 * MIB, MIB],
    ])
    assert.deepEqual(parts.reported, [4 * MIB, 8 * MIB, 9 * MIB])
  })

  test('sends a part again that did not arrive, and counts attempts for each part', async () => {
    const parts = sender([2, 3, 5])
    await sendParts(file, parts)
    assert.deepEqual(parts.waits, [1, 2, 1])
    assert.deepEqual(parts.reported, [4 * MIB, 8 * MIB, 9 * MIB])
  })

  test('gives up after six attempts, and at once for an error that stays', async () => {
    const parts = sender([1, 2, 3, 4, 5, 6])
    await assert.rejects(sendParts(file, parts), /cut off/)
    assert.deepEqual(parts.waits, [1, 2, 3, 4, 5])
    const refused = sender([1], false)
    await assert.rejects(sendParts(file, refused), /cut off/)
    assert.deepEqual(refused.waits, [])
  })

  test('sends an empty file as one empty part', async () => {
    const parts = sender([])
    await sendParts(new Blob([]), parts)
    assert.deepEqual(parts.sent, [[0, 0]])
  })
})

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

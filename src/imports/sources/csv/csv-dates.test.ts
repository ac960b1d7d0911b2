import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseCsvDate } from './csv-dates.ts'

describe('a date in a CSV file', () => {
  const CASES: { text: string; instant: string }[] = [
    { text: '2026-11-22T08:02:39Z', instant: '2026-11-22T08:02:39Z' },
    { text: '2026-11-22T08:02:39.123Z', instant: '2026-11-22T08:02:39.123Z' },
    { text: '2026-11-22T08:02:39+02:00', instant: '2026-11-22T06:02:39Z' },
    { text: '2026-11-22 08:02:39 +0200', instant: '2026-11-22T06:02:39Z' },
    { text: '2026-11-22 08:02:39 UTC', instant: '2026-11-22T08:02:39Z' },
    // Without a zone: Berlin's.
    { text: '2026-11-22 08:02:39', instant: '2026-11-22T07:02:39Z' },
    { text: '2026-07-22 08:02', instant: '2026-07-22T06:02:00Z' },
    { text: '2026-11-22', instant: '2026-11-21T23:00:00Z' },
    { text: '2026/11/22 8:02', instant: '2026-11-22T07:02:00Z' },
    { text: '22.11.2026 08:02', instant: '2026-11-22T07:02:00Z' },
    { text: '3.4.2026', instant: '2026-04-02T22:00:00Z' },
    { text: '11/22/2026 08:02', instant: '2026-11-22T07:02:00Z' },
    { text: '22/11/2026 08:02', instant: '2026-11-22T07:02:00Z' },
    { text: '11/11/2026 08:02', instant: '2026-11-11T07:02:00Z' },
    { text: '11/22/2026, 8:02:39 PM', instant: '2026-11-22T19:02:39Z' },
    { text: '11/22/2026 12:02 AM', instant: '2026-11-21T23:02:00Z' },
    { text: 'Nov 22, 2026', instant: '2026-11-21T23:00:00Z' },
    { text: 'November 22nd, 2026 08:02', instant: '2026-11-22T07:02:00Z' },
    { text: '22 Nov 2026 08:02', instant: '2026-11-22T07:02:00Z' },
    { text: 'Sun, 22 Nov 2026 08:02:39 GMT', instant: '2026-11-22T08:02:39Z' },
    { text: '1700000000', instant: '2023-11-14T22:13:20Z' },
    { text: '1700000000123', instant: '2023-11-14T22:13:20.123Z' },
    { text: '1700000000123000', instant: '2023-11-14T22:13:20.123Z' },
  ]
  for (const { text, instant } of CASES)
    test(`${text} is ${instant}`, () => {
      const micros = Temporal.Instant.from(instant).epochMilliseconds * 1_000
      assert.deepEqual(parseCsvDate(text, 'Europe/Berlin'), { instant: micros })
    })

  for (const text of [
    '',
    'soon',
    '2026-13-01',
    '2026-02-30',
    '31/02/2026',
    '2026',
    '12:30',
    '99999',
    '2026-11-22 25:00',
  ])
    test(`"${text}" is none`, () => {
      assert.deepEqual(parseCsvDate(text, 'UTC'), { fault: 'is no date' })
    })

  test('is no date when it could mean two days', () => {
    assert.deepEqual(parseCsvDate('03/04/2026 10:00', 'UTC'), {
      fault: 'is one of two days: write it as 2026-12-31',
    })
  })
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { RefusedRow } from './link-record.ts'
import {
  findLocalInstant,
  getLocalInstant,
  isTimeZone,
  parseCsvDate,
  shownIn,
} from './source-dates.ts'

describe('a date without a zone', () => {
  const CASES: { name: string; text: string; zone: string; instant: string | undefined }[] = [
    { name: 'in UTC', text: '2026-11-22 08:02:39', zone: 'UTC', instant: '2026-11-22T08:02:39Z' },
    {
      name: 'in an offset',
      text: '2026-11-22 08:02:39',
      zone: '+02:00',
      instant: '2026-11-22T06:02:39Z',
    },
    {
      name: 'in winter',
      text: '2026-11-22T08:02',
      zone: 'Europe/Berlin',
      instant: '2026-11-22T07:02:00Z',
    },
    {
      name: 'in summer',
      text: '2026-07-22 08:02:39',
      zone: 'Europe/Berlin',
      instant: '2026-07-22T06:02:39Z',
    },
    {
      name: 'without a time',
      text: '2026-07-22',
      zone: 'Europe/Berlin',
      instant: '2026-07-21T22:00:00Z',
    },
    // The hour after the clocks are set back occurs twice: the first is in summer time.
    {
      name: 'that occurs twice',
      text: '2025-10-26 02:30:00',
      zone: 'Europe/Berlin',
      instant: '2025-10-26T00:30:00Z',
    },
    // The clocks go from 02:00 to 03:00.
    {
      name: 'that is skipped',
      text: '2025-03-30 02:30:00',
      zone: 'Europe/Berlin',
      instant: '2025-03-30T01:30:00Z',
    },
    {
      name: 'before the epoch',
      text: '1969-12-31 23:00:00',
      zone: 'UTC',
      instant: '1969-12-31T23:00:00Z',
    },
    { name: 'that does not exist', text: '2026-02-30 08:00:00', zone: 'UTC', instant: undefined },
    { name: 'that was never set', text: '0000-00-00 00:00:00', zone: 'UTC', instant: undefined },
    {
      name: 'with anything after it',
      text: '2026-11-22 08:02:39 x',
      zone: 'UTC',
      instant: undefined,
    },
    {
      name: 'with an hour that is none',
      text: '2026-11-22 24:02:39',
      zone: 'UTC',
      instant: undefined,
    },
  ]
  for (const { name, text, zone, instant } of CASES)
    test(name, () => {
      const micros = findLocalInstant(text, zone)
      assert.equal(
        micros,
        instant === undefined
          ? undefined
          : Temporal.Instant.from(instant).epochMilliseconds * 1_000,
      )
    })

  test('has microseconds', () => {
    assert.equal(findLocalInstant('1970-01-01 00:00:00.123456', 'UTC'), 123_456)
    assert.equal(findLocalInstant('1970-01-01 00:00:01.5', 'UTC'), 1_500_000)
    assert.equal(
      findLocalInstant('2026-11-22 08:02:39.000001', 'Europe/Berlin'),
      1_795_330_959_000_001,
    )
  })

  test('is null when it is missing, and refused when it is not a date', () => {
    assert.equal(getLocalInstant(null, 'UTC'), null)
    assert.equal(getLocalInstant('', 'UTC'), null)
    assert.equal(getLocalInstant('0000-00-00 00:00:00', 'UTC'), null)
    assert.throws(() => getLocalInstant('yesterday', 'UTC'), RefusedRow)
  })
})

test('shows an instant as the clocks of a zone do', () => {
  const instant = Temporal.Instant.from('2026-07-01T06:00:00Z').epochMilliseconds * 1_000
  assert.equal(shownIn('Europe/Berlin', instant) - instant, 2 * 3_600_000_000)
  assert.equal(shownIn('-05:30', instant) - instant, -5.5 * 3_600_000_000)
})

test('knows time zones by name and offset', () => {
  for (const name of ['UTC', 'Europe/Berlin', '+02:00']) assert.ok(isTimeZone(name), name)
  for (const name of ['', 'Mars/Base', 'local']) assert.ok(!isTimeZone(name), name)
})

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

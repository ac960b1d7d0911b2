import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { RefusedRow } from './refused-record.ts'
import { findLocalInstant, getLocalInstant, isTimeZone, shownIn } from './source-dates.ts'

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

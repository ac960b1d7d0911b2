import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { local, naiveCuts } from '../../../test/domain/clicks/naive-cuts.ts'
import { ZONES } from '../../../test/domain/clicks/zones.ts'
import { cases } from '../../../test/support/properties.ts'
import { cutsOf, formatQuarters, INTERVALS } from './period.ts'

const QUARTER_MS = 900_000
const PERIODS = 50

function quarterOf(text: string): number {
  return Temporal.Instant.from(text).epochMilliseconds / QUARTER_MS
}

/** Periods of up to 70 days from 2023 on; earlier, some zones changed their clocks at odd minutes. */
const period = fc
  .tuple(
    fc.integer({ min: quarterOf('2023-01-01T00:00Z'), max: quarterOf('2037-01-01T00:00Z') }),
    fc.integer({ min: 1, max: 70 * 96 }),
  )
  .map(([from, length]) => ({ from, to: from + length }))

describe('cutsOf', () => {
  for (const interval of INTERVALS) {
    test(`cuts ${interval}s at the zone’s local boundaries`, () => {
      fc.assert(
        fc.property(period, fc.constantFrom(...ZONES), ({ from, to }, zone) => {
          const cuts = cutsOf({ from, to }, zone, interval)
          assert.deepEqual(cuts, naiveCuts(from, to, zone, interval))
        }),
        cases(PERIODS),
      )
    })
  }

  for (const [zone, date, hours] of [
    ['Europe/Berlin', '2026-03-29', 23],
    ['Europe/Berlin', '2026-10-25', 25],
    ['Europe/Berlin', '2026-11-01', 24],
    ['America/New_York', '2026-03-08', 23],
    ['America/New_York', '2026-11-01', 25],
    ['Australia/Lord_Howe', '2026-10-04', 24],
    ['Australia/Lord_Howe', '2026-04-05', 25],
    ['Asia/Kathmandu', '2026-11-01', 24],
    ['America/Santiago', '2026-09-06', 23],
    ['Asia/Beirut', '2026-03-29', 23],
  ] as const) {
    test(`cuts ${date} in ${zone} into ${hours} hours`, () => {
      const day = Temporal.PlainDate.from(date)
      const at = (date: Temporal.PlainDate) =>
        date.toZonedDateTime(zone).epochMilliseconds / QUARTER_MS
      const bounds = { from: at(day), to: at(day.add({ days: 1 })) }
      assert.equal(cutsOf(bounds, zone, 'hour').length - 1, hours)
      assert.deepEqual(cutsOf(bounds, zone, 'day'), [bounds.from, bounds.to])
    })
  }

  test('makes no day of a date that the zone skipped', () => {
    const bounds = { from: quarterOf('2011-12-29T10:00Z'), to: quarterOf('2011-12-31T10:00Z') }
    const cuts = cutsOf(bounds, 'Pacific/Apia', 'day')
    assert.deepEqual(formatQuarters(cuts, 'Pacific/Apia'), [
      '2011-12-29T00:00:00.000000-10:00',
      '2011-12-31T00:00:00.000000+14:00',
      '2012-01-01T00:00:00.000000+14:00',
    ])
  })

  test('cuts at the quarter hour before a clock change at an odd minute', () => {
    const bounds = { from: quarterOf('2010-11-06T12:00Z'), to: quarterOf('2010-11-08T12:00Z') }
    assert.equal(cutsOf(bounds, 'America/St_Johns', 'day').length, 4)
  })

  test('formatQuarters writes a quarter hour in the zone’s local time', () => {
    const quarters = fc.uniqueArray(
      period.map(({ from }) => from),
      { minLength: 1, maxLength: 20 },
    )
    fc.assert(
      fc.property(quarters, fc.constantFrom(...ZONES), (unsorted, zone) => {
        const sorted = unsorted.toSorted((a, b) => a - b)
        const texts = formatQuarters(sorted, zone)
        for (const [nth, quarter] of sorted.entries()) {
          const expected = local(quarter, zone).toString({
            timeZoneName: 'never',
            fractionalSecondDigits: 6,
          })
          assert.equal(texts[nth], expected.replace('+00:00', 'Z'))
        }
      }),
      cases(PERIODS),
    )
  })
})

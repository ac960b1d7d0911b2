import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { comparedPeriod, elapsedPart, intervalOf, intervalsFor, periodOf } from './view.ts'

const NOW = new Date('2026-11-21T23:30:00Z')

describe('periodOf', () => {
  for (const [search, zone, from, to] of [
    [{}, 'UTC', '2026-10-23', '2026-11-22'],
    [{}, 'Europe/Berlin', '2026-10-24', '2026-11-23'],
    [{ period: 'today' }, 'America/New_York', '2026-11-21', '2026-11-22'],
    [{ period: '7d' }, 'UTC', '2026-11-15', '2026-11-22'],
    [{ period: '12m' }, 'UTC', '2025-12-01', '2026-12-01'],
    [{ from: '2026-03-01', to: '2026-03-02' }, 'UTC', '2026-03-01', '2026-03-02'],
  ] as const) {
    test(`makes ${from} to ${to} of ${JSON.stringify(search)} in ${zone}`, () => {
      assert.deepEqual(periodOf(search, zone, NOW), { from, to })
    })
  }
})

describe('comparedPeriod', () => {
  for (const [name, period, comparison, compared] of [
    ['days', ['2026-10-24', '2026-11-23'], 'previous', ['2026-09-24', '2026-10-24']],
    ['whole months', ['2026-03-01', '2026-04-01'], 'previous', ['2026-02-01', '2026-03-01']],
    ['a year of months', ['2025-12-01', '2026-12-01'], 'previous', ['2024-12-01', '2025-12-01']],
    ['the year before', ['2026-10-24', '2026-11-23'], 'year', ['2025-10-24', '2025-11-23']],
    ['a leap day', ['2028-02-29', '2028-03-01'], 'year', ['2027-02-28', '2027-03-01']],
    [
      'instants',
      ['2026-11-20T08:00:00Z', '2026-11-20T12:00:00Z'],
      'previous',
      ['2026-11-20T04:00:00Z', '2026-11-20T08:00:00Z'],
    ],
  ] as const) {
    test(`of ${name} is as long, and just before`, () => {
      const [from, to] = period
      assert.deepEqual(comparedPeriod({ from, to }, comparison), {
        from: compared[0],
        to: compared[1],
      })
    })
  }

  test('is nothing without a comparison', () => {
    assert.equal(comparedPeriod({ from: '2026-10-24', to: '2026-11-23' }, 'none'), undefined)
  })
})

describe('elapsedPart', () => {
  for (const [name, zone, now, shown, before, to] of [
    ['UTC', 'UTC', '2026-11-21T09:20Z', ['11-21', '11-22'], ['11-20', '11-21'], '11-20T09:15:00'],
    // 09:20 in Tokyo, which is still yesterday in UTC; five hours after midnight; the evening in California.
    [
      'UTC+9',
      'Asia/Tokyo',
      '2026-11-21T00:20Z',
      ['11-21', '11-22'],
      ['11-20', '11-21'],
      '11-20T00:15:00',
    ],
    [
      'UTC+9',
      'Asia/Tokyo',
      '2026-11-20T20:00Z',
      ['11-21', '11-22'],
      ['11-20', '11-21'],
      '11-19T20:00:00',
    ],
    [
      'UTC−8',
      'America/Los_Angeles',
      '2026-11-22T01:30Z',
      ['11-21', '11-22'],
      ['11-20', '11-21'],
      '11-21T01:30:00',
    ],
    [
      'UTC+5:30',
      'Asia/Kolkata',
      '2026-11-21T04:00Z',
      ['11-21', '11-22'],
      ['11-20', '11-21'],
      '11-20T04:00:00',
    ],
    [
      'several days',
      'Asia/Tokyo',
      '2026-11-20T20:00Z',
      ['11-15', '11-22'],
      ['11-08', '11-15'],
      '11-13T20:00:00',
    ],
    // Noon on the days of both changes, which is 10:00 and 11:00 in UTC, and on the days after them.
    [
      'spring',
      'Europe/Berlin',
      '2026-03-29T10:00Z',
      ['03-29', '03-30'],
      ['03-28', '03-29'],
      '03-28T11:00:00',
    ],
    [
      'after spring',
      'Europe/Berlin',
      '2026-03-30T10:00Z',
      ['03-30', '03-31'],
      ['03-29', '03-30'],
      '03-29T10:00:00',
    ],
    [
      'autumn',
      'Europe/Berlin',
      '2026-10-25T11:00Z',
      ['10-25', '10-26'],
      ['10-24', '10-25'],
      '10-24T10:00:00',
    ],
    [
      'after autumn',
      'Europe/Berlin',
      '2026-10-26T11:00Z',
      ['10-26', '10-27'],
      ['10-25', '10-26'],
      '10-25T11:00:00',
    ],
  ] as const) {
    test(`ends at the same time of the clock: ${name}, ${now}`, () => {
      const period = ([from, until]: readonly [string, string]) => ({
        from: `2026-${from}`,
        to: `2026-${until}`,
      })
      assert.deepEqual(elapsedPart(period(shown), period(before), zone, new Date(now)), {
        from: `2026-${before[0]}`,
        to: `2026-${to}Z`,
      })
    })
  }

  test('is the whole of what is compared with a period that is over, and no more than that', () => {
    const today = { from: '2026-11-21', to: '2026-11-22' }
    const yesterday = { from: '2026-11-20', to: '2026-11-21' }
    assert.deepEqual(elapsedPart(yesterday, today, 'UTC', NOW), today)
    // The last hours of a day in California, which is over in UTC.
    const lateThere = new Date('2026-11-22T07:59:00Z')
    const { to } = elapsedPart(today, yesterday, 'America/Los_Angeles', lateThere)
    assert.equal(to, '2026-11-21T07:45:00Z')
    const march = { from: '2026-03-01', to: '2026-04-01' }
    const february = { from: '2026-02-01', to: '2026-03-01' }
    assert.deepEqual(elapsedPart(march, february, 'UTC', new Date('2026-03-30T12:00Z')), february)
  })

  test('of instants ends as long after the first', () => {
    const shown = { from: '2026-11-21T08:00:00Z', to: '2026-11-21T12:00:00Z' }
    const before = { from: '2026-11-21T04:00:00Z', to: '2026-11-21T08:00:00Z' }
    assert.deepEqual(elapsedPart(shown, before, 'Asia/Tokyo', new Date('2026-11-21T09:20Z')), {
      from: before.from,
      to: '2026-11-21T05:15:00Z',
    })
  })
})

describe('intervals', () => {
  for (const [days, intervals, chosen] of [
    ['2026-11-21', ['hour'], 'hour'],
    ['2026-11-15', ['hour', 'day'], 'day'],
    ['2026-10-23', ['hour', 'day', 'week'], 'day'],
    ['2026-08-24', ['day', 'week', 'month'], 'day'],
    ['2025-12-01', ['day', 'week', 'month'], 'week'],
    ['2020-12-01', ['week', 'month'], 'month'],
  ] as const) {
    test(`from ${days} are ${intervals.join(', ')}, at first ${chosen}`, () => {
      const period = { from: days, to: '2026-11-22' }
      assert.deepEqual(intervalsFor(period, 'clicks'), intervals)
      assert.equal(intervalOf(period, undefined, 'clicks'), chosen)
    })
  }

  test('are hours alone for instants, and never hours for visitors', () => {
    const hours = { from: '2026-11-20T08:00:00Z', to: '2026-11-20T12:00:00Z' }
    assert.deepEqual(intervalsFor(hours, 'clicks'), ['hour'])
    assert.equal(intervalOf({ from: '2026-11-15', to: '2026-11-22' }, 'hour', 'visitors'), 'day')
  })

  test('ignore a choice that would make too many points', () => {
    assert.equal(intervalOf({ from: '2020-12-01', to: '2026-11-22' }, 'hour', 'clicks'), 'month')
  })
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { comparedPeriod, elapsedPart, intervalOf, intervalsFor, periodOf } from './period.ts'

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

  test('ends as early as the shown period has come', () => {
    const today = { from: '2026-11-21', to: '2026-11-22' }
    const yesterday = { from: '2026-11-20', to: '2026-11-21' }
    assert.deepEqual(elapsedPart(today, yesterday, new Date('2026-11-21T09:20:00Z')), {
      from: '2026-11-20',
      to: '2026-11-20T09:15:00Z',
    })
    assert.deepEqual(elapsedPart(yesterday, today, NOW), today)
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

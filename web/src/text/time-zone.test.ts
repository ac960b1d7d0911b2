import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  browserTimeZone,
  dateByIntl,
  dateIn,
  instantByIntl,
  instantIn,
  minuteByIntl,
  minuteIn,
} from './time-zone.ts'

describe('dateIn', () => {
  for (const { timezone, instant, date } of [
    { timezone: 'UTC', instant: '2026-11-22T23:59:59Z', date: '2026-11-22' },
    { timezone: 'Europe/Berlin', instant: '2026-11-22T23:00:00Z', date: '2026-11-23' },
    { timezone: 'America/New_York', instant: '2026-01-01T04:59:59Z', date: '2025-12-31' },
    { timezone: 'Pacific/Kiritimati', instant: '2026-02-28T10:00:00Z', date: '2026-03-01' },
  ]) {
    test(`is ${date} in ${timezone} at ${instant}, with Temporal and without`, () => {
      assert.equal(dateIn(timezone, new Date(instant)), date)
      assert.equal(dateByIntl(timezone, new Date(instant)), date)
    })
  }
})

describe('instantIn and minuteIn', () => {
  for (const [timezone, local, instant, back = local] of [
    ['UTC', '2026-11-22', '2026-11-22T00:00:00Z', '2026-11-22T00:00'],
    ['Asia/Tokyo', '2026-11-22T09:20', '2026-11-22T00:20:00Z'],
    ['America/Los_Angeles', '2026-11-22', '2026-11-22T08:00:00Z', '2026-11-22T00:00'],
    ['Asia/Kolkata', '2026-11-22T05:15', '2026-11-21T23:45:00Z'],
    ['Europe/Berlin', '2026-03-29', '2026-03-28T23:00:00Z', '2026-03-29T00:00'],
    // Left out, and twice.
    ['Europe/Berlin', '2026-03-29T02:30', '2026-03-29T01:30:00Z', '2026-03-29T03:30'],
    ['Europe/Berlin', '2026-10-25T02:30', '2026-10-25T00:30:00Z'],
    ['America/New_York', '2026-11-01T01:30', '2026-11-01T05:30:00Z'],
  ] as const) {
    test(`${local} in ${timezone} is ${instant}, with Temporal and without`, () => {
      const expected = new Date(instant)
      assert.deepEqual(instantIn(timezone, local), expected)
      assert.deepEqual(instantByIntl(timezone, local), expected)
      assert.equal(minuteIn(timezone, expected), back)
      assert.equal(minuteByIntl(timezone, expected), back)
    })
  }
})

describe('browserTimeZone', () => {
  test('is that of the system', () => {
    const { timeZone } = new Intl.DateTimeFormat().resolvedOptions()
    assert.equal(browserTimeZone(), timeZone)
  })
})

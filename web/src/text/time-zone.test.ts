import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { browserTimeZone, dateByIntl, dateIn } from './time-zone.ts'

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

describe('browserTimeZone', () => {
  test('is that of the system', () => {
    const { timeZone } = new Intl.DateTimeFormat().resolvedOptions()
    assert.equal(browserTimeZone(), timeZone)
  })
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { formatReport } from './stats.ts'

const HEAD = {
  from: '2026-11-01T00:00:00Z',
  to: '2026-11-06T00:00:00Z',
  timezone: 'UTC',
  counted_until: '2026-11-06T00:00:00Z',
  opening: null,
  total: { clicks: 100_001, bots: 7, visitors: 12 },
}

describe('formatReport', () => {
  const series = (...clicks: number[]) => ({
    ...HEAD,
    interval: 'day' as const,
    group_by: null,
    data: clicks.map((number, day) => ({
      start: `2026-11-0${day + 1}T00:00:00Z`,
      clicks: number,
    })),
  })

  test('draws a bar for each day with clicks, and counts those without', () => {
    assert.deepEqual(formatReport(series(100_000, 0, 1, 0, 0)).split('\n'), [
      '100001 clicks, 7 by bots, 12 visitors',
      '2026-11-01 to 2026-11-06 (UTC)',
      '',
      'DAY         CLICKS',
      `2026-11-01  100000  ${'█'.repeat(40)}`,
      '2026-11-03       1  █',
      '',
      'Left out without clicks: 3 days.',
    ])
  })

  test('says nothing of empty days where there are none, and draws no chart of nothing', () => {
    assert.doesNotMatch(formatReport(series(1, 2)), /Left out/)
    assert.deepEqual(formatReport(series(0)).split('\n').slice(2), [
      '',
      'Left out without clicks: 1 day.',
    ])
  })

  test('fits into 80 columns, and shows no control characters', () => {
    const value = `\u001b[31m${'long.'.repeat(40)}example`
    const text = formatReport({
      ...HEAD,
      interval: null,
      group_by: 'referrer',
      data: [
        { value, clicks: 123_456_789_012 },
        { value: null, bots: 5 },
      ],
      rest: { values: 0 },
    })
    assert.ok(text.split('\n').every((line) => line.length <= 80))
    assert.match(text, /\nlong\.[\w.]+… {2}123456789012 {2}█+\nunknown +5 {2}█$/)
    assert.doesNotMatch(text.replaceAll('\n', ''), /\p{Cc}/u)
  })
})

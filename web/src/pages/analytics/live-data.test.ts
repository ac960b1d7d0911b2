import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { LiveClick } from '../../api/live-clicks.ts'
import { clicksOf, liveData, movedTo, withClicks } from './live-data.ts'

const START_MS = Date.parse('2026-11-22T12:00:00Z')
const MINUTE_MS = 60_000

const at = (minute: number) => new Date(START_MS + minute * MINUTE_MS).toISOString()

function click(minute: number, fields: Partial<LiveClick> = {}): LiveClick {
  return {
    at: at(minute),
    link_id: 'a',
    domain: 'go.example',
    key: 'spring',
    country: 'DE',
    device: null,
    os: null,
    browser: null,
    referrer: null,
    language: null,
    source: 'direct',
    rule: null,
    variant: null,
    label: null,
    region: null,
    city: null,
    id: null,
    flags: [],
    count: 1,
    ...fields,
  }
}

const start = liveData({
  from: at(0),
  minutes: Array.from({ length: 30 }, (_, nth) => ({ start: at(nth), clicks: nth < 2 ? 1 : 0 })),
  clicks: [click(0, { key: 'old' }), click(1)],
})

const keysOf = (data: typeof start) => data.rows.map((row) => row.click.key)
const countsOf = (data: typeof start) => data.minutes.map(({ clicks }) => clicks)

describe('the data of the live view', () => {
  test('has the newest click first', () => {
    assert.deepEqual(keysOf(start), ['spring', 'old'])
    const next = withClicks(start, { clicks: [click(29, { key: 'new' })], left_out: 0 })
    assert.deepEqual(keysOf(next), ['new', 'spring', 'old'])
    assert.equal(new Set(next.rows.map(({ nth }) => nth)).size, 3)
  })

  test('adds late, capped and left out clicks to their minutes', () => {
    const clicks = [click(-1), click(0), click(29, { count: 5 }), click(31)]
    const counts = countsOf(withClicks(start, { clicks, left_out: 10 }))
    assert.deepEqual([counts[0], counts[1], counts[29]], [2, 1, 16])
    assert.equal(
      counts.reduce((sum, count) => sum + count),
      19,
    )
  })

  test('moves on by whole minutes, and drops what is older', () => {
    assert.equal(movedTo(start, START_MS + 29.9 * MINUTE_MS), start)
    const next = movedTo(start, START_MS + 30 * MINUTE_MS)
    assert.deepEqual(countsOf(next), [1, ...Array.from({ length: 29 }, () => 0)])
    assert.equal(next.minutes.at(-1)?.startMs, START_MS + 30 * MINUTE_MS)
    assert.deepEqual(keysOf(next), ['spring'])
    const later = movedTo(start, START_MS + 500 * MINUTE_MS)
    assert.equal(clicksOf(later), 0)
    assert.equal(later.minutes.at(-1)?.startMs, START_MS + 500 * MINUTE_MS)
  })
})

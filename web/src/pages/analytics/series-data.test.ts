import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { cutsOf, isUnknown, progressOf, sumBuckets, zoomedPeriod } from './series-data.ts'

const days = (first: number, count: number) =>
  Array.from({ length: count }, (_, nth) => {
    const start = new Date(Date.UTC(2026, 9, first + nth)).toISOString()
    return { start, clicks: 1, bots: 2, visitors: 3 }
  })
const startsOf = (points: readonly { start: string }[]) => points.map(({ start }) => start)

describe('buckets', () => {
  // 1 October 2026 is a Thursday.
  const october = days(1, 31)
  const weeks = cutsOf(startsOf(october), 'week')

  test('of weeks begin with the period and on Mondays', () => {
    assert.deepEqual(weeks, [0, 4, 11, 18, 25])
    assert.deepEqual(
      sumBuckets(october, weeks).map(({ clicks, bots, visitors }) => [clicks, bots, visitors]),
      [4, 7, 7, 7, 6].map((count) => [count, count * 2, count * 3]),
    )
  })

  test('of months begin on the first', () => {
    assert.deepEqual(cutsOf(startsOf(days(20, 60)), 'month'), [0, 12, 42])
  })

  test('of a compared period have as many days each', () => {
    const before = sumBuckets(days(-29, 30), weeks)
    assert.deepEqual(
      before.map(({ clicks }) => clicks),
      [4, 7, 7, 7, 5],
    )
  })

  test('do not know their visitors if one day does not', () => {
    const points = october.map((point, nth) => (nth === 5 ? { ...point, visitors: null } : point))
    const buckets = sumBuckets(points, weeks)
    assert.deepEqual(
      buckets.map(({ visitors }) => visitors),
      [12, null, 21, 21, 18],
    )
    assert.equal(isUnknown(buckets, 1, 'visitors'), false)
    assert.equal(isUnknown(buckets, 2, 'visitors'), true)
    assert.equal(isUnknown(buckets, 2, 'clicks'), false)
  })

  test('that have not begun are counted out, and the last may be unfinished', () => {
    const end = '2026-11-01T00:00:00Z'
    const noon = new Date('2026-10-10T12:00:00Z')
    assert.deepEqual(progressOf(october, end, noon), { begun: 10, isUnfinished: true })
    assert.deepEqual(progressOf(october, end, new Date(end)), { begun: 31, isUnfinished: false })
    assert.deepEqual(progressOf(october, end, new Date(0)), { begun: 0, isUnfinished: false })
  })
})

describe('zoomedPeriod', () => {
  const starts = [
    '2026-10-24T00:00:00.000000+02:00',
    '2026-10-25T00:00:00.000000+02:00',
    '2026-10-26T00:00:00.000000+01:00',
  ]

  test('is made of dates, both days included, in whichever direction', () => {
    const zoomed = { from: '2026-10-24', to: '2026-10-26' }
    assert.deepEqual(zoomedPeriod(starts, '2026-10-27', [0, 1], 'day'), zoomed)
    assert.deepEqual(zoomedPeriod(starts, '2026-10-27', [1, 0], 'day'), zoomed)
  })

  test('ends with the shown period after its last day', () => {
    assert.deepEqual(zoomedPeriod(starts, '2026-10-27', [1, 2], 'day'), {
      from: '2026-10-25',
      to: '2026-10-27',
    })
  })

  test('is made of instants for hours', () => {
    const hours = [
      '2026-10-25T02:00:00+02:00',
      '2026-10-25T02:00:00+01:00',
      '2026-10-25T03:00:00+01:00',
    ]
    assert.deepEqual(zoomedPeriod(hours, '2026-10-26', [0, 1], 'hour'), {
      from: '2026-10-25T00:00:00Z',
      to: '2026-10-25T02:00:00Z',
    })
  })
})

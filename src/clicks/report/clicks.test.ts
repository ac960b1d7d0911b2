import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { faultText } from '@terse/contract/faults'
import { fakeReports } from '../../../test/domain/clicks/fake-reports.ts'
import { someClick } from '../../../test/support/clicks.ts'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { commandLine } from '../../identity/actor.ts'
import { Failure } from '../../platform/failure.ts'
import { FairQueue } from '../../platform/work/fair-queue.ts'
import { ScanTooLong } from '../../storage/scans.ts'
import { CLICK_DIMENSIONS, type ClickDimension } from '../click.ts'
import type { ClickReports } from '../store/click-reports.ts'
import { clickFilter } from './click-filter.ts'
import { CHART_QUEUE, Clicks, EXPORT_QUEUE, type ReportQuery } from './clicks.ts'
import type { RawClick } from './day-of-clicks.ts'

const NOW_MS = Date.UTC(2026, 10, 21, 10, 20)
const DAY_MICROS = 86_400_000_000

const CLICK: RawClick = {
  ...someClick({ at: NOW_MS * 1_000, link_seq: 1, country: 'DE', os: 'iOS', browser: 'Safari' }),
  link_id: null,
  key: null,
  host: null,
}

function over(reports: ClickReports, retentionDays = 365) {
  const deps = {
    store: { read: { reports } },
    clock: fakeClock(NOW_MS),
    retentionDays,
    charts: new FairQueue(CHART_QUEUE),
    exports: new FairQueue(EXPORT_QUEUE),
  }
  const service = new Clicks(deps as unknown as ConstructorParameters<typeof Clicks>[0])
  return (
    query: Partial<ReportQuery> & { wanted?: Partial<Record<ClickDimension, readonly string[]>> },
  ) =>
    service.report(
      commandLine('w'),
      { kind: 'workspace' },
      {
        bots: 'exclude',
        ...query,
        linkFilter: new Map(),
        filter: clickFilter(query.wanted ?? {}, CLICK_DIMENSIONS),
      },
    )
}

function refusal(field: string, pattern: RegExp) {
  return (error: unknown) => {
    assert.ok(error instanceof Failure)
    assert.equal(error.code, 'validation_failed')
    const [fault] = error.fields?.[field] ?? []
    assert.match(fault === undefined ? '' : faultText(fault), pattern)
    return true
  }
}

const ACROSS = { wanted: { country: ['DE'] }, groupBy: 'os' } as const

describe('clicks().report', () => {
  test('allows 10,000 points and refuses 10,001', async () => {
    const report = over(fakeReports([CLICK]))
    const from = '2026-01-01T00:00:00Z'
    const hours = (count: number) => new Date(Date.parse(from) + count * 3_600_000).toISOString()
    const most = await report({ from, to: hours(10_000), interval: 'hour' })
    assert.equal(most.groupBy === undefined && most.points.length, 10_000)
    const refused = refusal('interval', /10001 points; there can be 10000/)
    await assert.rejects(report({ from, to: hours(10_001), interval: 'hour' }), refused)

    const byValue = { from, interval: 'hour', groupBy: 'os', limit: 4 } as const
    await report({ ...byValue, to: hours(2_500) })
    await assert.rejects(
      report({ ...byValue, to: hours(2_501) }),
      refusal('interval', /10004 points for 4 values/),
    )
    await report({ from, to: hours(10_001), groupBy: 'os' })
  })

  test('combines dimensions only as far back as single clicks are kept', async () => {
    const report = over(fakeReports([CLICK]), 20)
    const kept = await report({ ...ACROSS, from: '2026-11-01' })
    assert.deepEqual(kept.total, { persons: 1, others: 0, visitors: 1 })
    await assert.rejects(
      report({ ...ACROSS, from: '2026-10-31' }),
      refusal('from', /for country, os: .* 20 days/),
    )
    await report({ groupBy: 'os', wanted: { os: ['iOS'] }, from: '2026-10-31' })
    await over(fakeReports([CLICK]), 0)({ ...ACROSS, from: '2017-01-01' })
  })

  test('combines dimensions over at most a million clicks', async () => {
    const many = (persons: number): ClickReports => ({
      ...fakeReports([{ ...CLICK, count: persons + 1 }]),
      readDays: async (_scope, fromDay) => [
        { day: fromDay, total: { persons, others: 1, slots: [] }, visitors: 1, values: new Map() },
      ],
    })
    const days = { from: '2026-11-20', to: '2026-11-22' }
    await over(many(999_999))({ ...ACROSS, ...days })
    await assert.rejects(
      over(many(1_000_000))({ ...ACROSS, ...days }),
      refusal('from', /limited to 1000000, and the requested days have 1000001/),
    )
  })

  test('refuses to combine dimensions when some single clicks of the period were not kept', async () => {
    const kept = fakeReports([CLICK])
    const counted = fakeReports([CLICK, { ...CLICK, at: CLICK.at + 1, os: 'Android' }])
    const report = over({ ...kept, readDays: counted.readDays })
    await assert.rejects(
      report({ ...ACROSS, from: '2026-11-20' }),
      refusal('from', /for country, os: .* not all kept: 1 of 2/),
    )
    await report({ groupBy: 'os', from: '2026-11-20' })
    await report({ ...ACROSS, from: '2026-11-10', to: '2026-11-20' })
  })

  test('refuses combined dimensions that take longer than 10 seconds to read', async () => {
    const slow: ClickReports = {
      ...fakeReports([CLICK]),
      async *rawClicks(_scope, _from, _to, { msMax } = {}) {
        yield [CLICK]
        assert.equal(msMax, 10_000)
        throw new ScanTooLong()
      },
    }
    await assert.rejects(over(slow)(ACROSS), refusal('from', /longer than 10 s/))
  })

  test('limits how many charts of a workspace wait and run at once', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    let underWay = 0
    const waiting: ClickReports = {
      ...fakeReports([]),
      async readDays() {
        underWay += 1
        await promise
        return []
      },
    }
    const report = over(waiting)
    const most = (CHART_QUEUE.concurrencyPerOwner ?? 0) + CHART_QUEUE.waitingPerOwnerMax
    const first = Array.from({ length: most }, () => report({}))
    await assert.rejects(report({}), { name: 'QueueRefusal', reason: 'owner_full' })
    assert.equal(underWay, CHART_QUEUE.concurrencyPerOwner)
    resolve()
    await Promise.all(first)
    await report({})
  })

  test('returns a series of the last 30 days by default', async () => {
    const late = { ...CLICK, at: CLICK.at - 29 * DAY_MICROS }
    const series = await over(fakeReports([CLICK, late]))({})
    assert.equal(series.interval, 'day')
    assert.equal(series.groupBy === undefined && series.points.length, 30)
    assert.deepEqual(series.total, { persons: 2, others: 0, visitors: 2 })
  })
})

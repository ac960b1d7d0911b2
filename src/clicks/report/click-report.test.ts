import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { arbitraryClicks } from '../../../test/domain/clicks/arbitrary-clicks.ts'
import { fakeReports, visitorsOf } from '../../../test/domain/clicks/fake-reports.ts'
import { ZONES } from '../../../test/domain/clicks/zones.ts'
import { cases } from '../../../test/support/properties.ts'
import { CLICK_DIMENSIONS, type ClickDimension, countVisits } from '../click.ts'
import {
  BOTS,
  type ClickFilter,
  clickFilter,
  matchesFilter,
  selectByDimensions,
} from './click-filter.ts'
import { reportGroups, reportSeries } from './click-report.ts'
import type { RawClick } from './day-of-clicks.ts'
import { type DaySource, rollupDays, sumUpDays } from './day-source.ts'
import { cutsOf, INTERVALS, QUARTER_MICROS, type Quarters } from './period.ts'

const REPORTS = 150
const DAY_QUARTERS = 96
const FIRST = Temporal.Instant.from('2026-03-20T00:00Z').epochMilliseconds / 900_000
const LAST = FIRST + 25 * DAY_QUARTERS
const SCOPE = { kind: 'workspace', workspaceId: 'w' } as const

/** Clicks over some weeks, and a period that excludes some of them. */
const reportQuery = fc.record({
  clicks: arbitraryClicks(FIRST * QUARTER_MICROS, LAST * QUARTER_MICROS),
  period: fc
    .uniqueArray(fc.integer({ min: FIRST, max: LAST }), { minLength: 2, maxLength: 2 })
    .map((ends) => ({ from: Math.min(...ends), to: Math.max(...ends) })),
  zone: fc.constantFrom(...ZONES),
  interval: fc.constantFrom(...INTERVALS),
  bots: fc.constantFrom(...BOTS),
  filter: fc
    .record(
      { country: fc.subarray(['', 'de', 'fr', 'XX'], { minLength: 1 }) },
      { requiredKeys: [] },
    )
    .map((wanted) => clickFilter(wanted, CLICK_DIMENSIONS)),
})

function counted(clicks: readonly RawClick[]) {
  const persons = countVisits(clicks.filter(({ flags }) => flags === 0))
  return { persons, others: countVisits(clicks) - persons }
}

function within(clicks: readonly RawClick[], from: number, to: number): RawClick[] {
  return clicks.filter(({ at }) => from * QUARTER_MICROS <= at && at < to * QUARTER_MICROS)
}

/** The days recomputed from single clicks; asserts that no click of the period is missing. */
async function rawDays(
  clicks: readonly RawClick[],
  { from, to }: Quarters,
  filter: ClickFilter,
  groupBy: ClickDimension | undefined,
): Promise<DaySource> {
  const raw = fakeReports(clicks).rawClicks(SCOPE, from * QUARTER_MICROS, to * QUARTER_MICROS)
  const { source, visits } = await sumUpDays(raw, selectByDimensions(filter, groupBy))
  assert.equal(visits, countVisits(within(clicks, from, to)))
  return source
}

/** Distinct visitors per UTC day, summed over the days, counted one by one. */
function naiveVisitors(clicks: readonly RawClick[]): number {
  const days = Map.groupBy(clicks, ({ at }) => Math.floor(at / QUARTER_MICROS / DAY_QUARTERS))
  return [...days.values()].reduce((sum, ofDay) => sum + visitorsOf(ofDay), 0)
}

const isWholeDays = (from: number, to: number) =>
  from % DAY_QUARTERS === 0 && to % DAY_QUARTERS === 0

describe('a click report', () => {
  test('matches a recount of the single clicks in each interval', async () => {
    await fc.assert(
      fc.asyncProperty(reportQuery, async ({ clicks, period, zone, interval, filter }) => {
        const cuts = cutsOf(period, zone, interval)
        const wanted = clicks.filter((click) => matchesFilter(filter, click))
        const sources: DaySource[] = [
          rollupDays(fakeReports(clicks), SCOPE, filter, filter.size > 0 ? 'country' : undefined),
          await rawDays(clicks, period, filter, undefined),
        ]
        for (const source of sources) {
          const { total, points } = await reportSeries(source, period, cuts)
          const all = within(wanted, period.from, period.to)
          const { visitors, ...counts } = total
          assert.deepEqual(counts, counted(all))
          if (visitors !== null) assert.equal(visitors, naiveVisitors(all))
          if (isWholeDays(period.from, period.to) && filter.size === 0)
            assert.notEqual(visitors, null)
          assert.deepEqual(
            points.map(({ start }) => start),
            cuts.slice(0, -1),
          )
          for (const [nth, { start, visitors, ...counts }] of points.entries()) {
            const end = cuts[nth + 1] ?? 0
            const own = within(wanted, start, end)
            assert.deepEqual(counts, counted(own))
            if (visitors !== null) assert.equal(visitors, naiveVisitors(own))
            if (isWholeDays(start, end) && filter.size === 0) assert.notEqual(visitors, null)
            if (counts.persons <= 1) assert.equal(visitors, counts.persons)
          }
        }
      }),
      cases(REPORTS),
    )
  })

  for (const groupBy of ['country', 'referrer'] as const) {
    test(`grouped by ${groupBy} matches a recount in each value and interval`, async () => {
      const limits = fc.integer({ min: 1, max: 4 })
      await fc.assert(
        fc.asyncProperty(
          reportQuery,
          limits,
          async ({ clicks, period, zone, interval, bots, filter }, limit) => {
            const cuts = cutsOf(period, zone, interval)
            const all = within(clicks, period.from, period.to).filter((click) =>
              matchesFilter(filter, click),
            )
            const raw = await rawDays(clicks, period, filter, groupBy)
            const canRollUp = groupBy === 'country' || filter.size === 0
            const sources = canRollUp
              ? [rollupDays(fakeReports(clicks), SCOPE, filter, groupBy), raw]
              : [raw]
            for (const source of sources) {
              const { total, groups, rest } = await reportGroups(source, period, cuts, {
                bots,
                limit,
              })
              assert.deepEqual({ ...total, visitors: null }, { ...counted(all), visitors: null })

              const expected = [...Map.groupBy(all, (click) => click[groupBy])]
                .map(([value, own]) => ({ value, own, ...counted(own) }))
                .map((group) => ({
                  ...group,
                  weight:
                    bots === 'include'
                      ? countVisits(group.own)
                      : bots === 'exclude'
                        ? group.persons
                        : group.others,
                }))
                .filter(({ weight }) => weight > 0)
                .sort((a, b) => b.weight - a.weight || (a.value < b.value ? -1 : 1))
              assert.deepEqual(
                groups.map(({ points: _, ...group }) => group),
                expected
                  .slice(0, limit)
                  .map(({ value, persons, others }) => ({ value, persons, others })),
              )
              const others = expected.slice(limit)
              assert.deepEqual(rest, {
                values: others.length,
                ...counted(others.flatMap(({ own }) => own)),
              })
              for (const [nth, { points }] of groups.entries()) {
                const own = expected[nth]?.own ?? []
                assert.deepEqual(
                  points,
                  cuts.slice(0, -1).map((start, index) => ({
                    start,
                    ...counted(within(own, start, cuts[index + 1] ?? 0)),
                  })),
                )
              }
              const short = await reportGroups(source, period, undefined, { bots, limit })
              assert.deepEqual(
                short.groups,
                groups.map((group) => ({ ...group, points: undefined })),
              )
            }
          },
        ),
        cases(REPORTS),
      )
    })
  }
})

import type { ClickReportResource } from '@terse/contract/clicks'
import type { CallApi } from '../../identity/index.ts'

const GROUPS_MAX = 1_000

/** Kutt's periods, each with as many intervals, the last of which has not ended. */
const PERIODS = [
  { name: 'lastDay', interval: 'hour', count: 24 },
  { name: 'lastWeek', interval: 'day', count: 7 },
  { name: 'lastMonth', interval: 'day', count: 30 },
  { name: 'lastYear', interval: 'month', count: 12 },
] as const

/** The names that Kutt always lists, also those without visits. */
const BROWSERS = ['chrome', 'edge', 'firefox', 'ie', 'opera', 'other', 'safari']
const SYSTEMS = ['android', 'ios', 'linux', 'macos', 'other', 'windows']

const ALIASES: Readonly<Record<string, string>> = { 'internet explorer': 'ie', ipados: 'ios' }

type Name = (value: string | null) => string

/** What Kutt calls our values of a dimension. */
const DIMENSIONS: Readonly<
  Record<string, { readonly nameOf: Name; readonly always: readonly string[] }>
> = {
  browser: { nameOf: amongNames(BROWSERS), always: BROWSERS },
  os: { nameOf: amongNames(SYSTEMS), always: SYSTEMS },
  country: { nameOf: (value) => value?.toLowerCase() ?? 'unknown', always: [] },
  referrer: {
    nameOf: (value) => value?.replace(/^www\./, '').replaceAll('.', '[dot]') ?? 'direct',
    always: [],
  },
}

function amongNames(names: readonly string[]): Name {
  return (value) => {
    const name = (value ?? '').toLowerCase()
    return ALIASES[name] ?? names.find((each) => name.includes(each)) ?? 'other'
  }
}

/** Counts the clicks of a link by people, as Kutt shows them. Hours, days and months begin in UTC. */
export async function statsOf(call: CallApi, id: string) {
  const stats: Record<string, object> = {}
  // One after the other: a workspace may have few reports under way.
  for (const { name, interval, count } of PERIODS) {
    const from = startOf(interval, count)
    const report = (query: Record<string, string | number>) =>
      call.get<ClickReportResource>(`/links/${id}/clicks`, { from, ...query })
    const [series, ...groups] = await Promise.all([
      report({ interval }),
      ...Object.keys(DIMENSIONS).map((dimension) =>
        report({ group_by: dimension, limit: GROUPS_MAX }),
      ),
    ])
    const named = groups.map((group) => [group.group_by, countsOf(group)])
    stats[name] = {
      stats: Object.fromEntries(named),
      views: series.group_by === null ? series.data.map(({ clicks = 0 }) => clicks) : [],
      total: series.total.clicks,
    }
  }
  return { ...stats, updatedAt: new Date().toISOString() }
}

/** Returns when the first of the latest intervals began. */
function startOf(interval: 'hour' | 'day' | 'month', count: number): string {
  const now = Temporal.Now.zonedDateTimeISO('UTC')
  const first = now.subtract({ [`${interval}s`]: count - 1 })
  const start =
    interval === 'month'
      ? now
          .with({ day: 1 })
          .subtract({ months: count - 1 })
          .startOfDay()
      : first.round({ smallestUnit: interval, roundingMode: 'floor' })
  return start.toInstant().toString()
}

function countsOf(report: ClickReportResource) {
  const { nameOf, always } = DIMENSIONS[report.group_by ?? ''] ?? {}
  if (report.group_by === null || nameOf === undefined) return []
  const counts = new Map((always ?? []).map((name) => [name, 0]))
  for (const { value, clicks = 0 } of report.data) {
    const name = nameOf(value)
    counts.set(name, (counts.get(name) ?? 0) + clicks)
  }
  return [...counts]
    .map(([name, value]) => ({ name, value }))
    .sort((one, other) => other.value - one.value)
}

import type {
  ConversionReportResource,
  ConversionResource,
  ConversionResultsResource,
} from '@terse/contract/conversions'
import { formatQuarters } from '../clicks/index.ts'
import { problemOf } from '../platform/http/api/problem.ts'
import { formatInstant } from '../platform/time/clock.ts'
import type { Recorded } from './conversions.ts'
import type { ConversionReport, Group, Sums } from './report.ts'
import type { LinkedConversion } from './store/conversion-store.ts'

export function presentConversion({ link, ...row }: LinkedConversion): ConversionResource {
  return {
    id: row.id,
    event: row.event,
    value: row.value,
    currency: row.currency,
    occurred_at: formatInstant(row.occurred_at),
    recorded_at: formatInstant(row.recorded_at),
    clicked_at: formatInstant(row.clicked_at),
    ...{ link_id: link.id, domain: link.domain, key: link.key },
    country: row.country || null,
    rule: row.rule || null,
    variant: row.variant || null,
    label: row.label || null,
  }
}

export function presentResults(results: readonly Recorded[]): ConversionResultsResource {
  const count = (status: Recorded['status']) =>
    results.filter((result) => result.status === status).length
  return {
    ...{ recorded: count('recorded'), repeated: count('repeated'), failed: count('failed') },
    results: results.map((result, index) => ({
      ...{ index, status: result.status },
      conversion: 'conversion' in result ? presentConversion(result.conversion) : null,
      error: 'failure' in result ? problemOf(result.failure) : null,
    })),
  }
}

export function presentReport(report: ConversionReport): ConversionReportResource {
  const { quarters, zone, interval, groupBy, total, points, groups, rest } = report
  const [from = '', to = ''] = formatQuarters([quarters.from, quarters.to], zone)
  const starts = formatQuarters(report.starts ?? [], zone)
  const dated = (sums: readonly Sums[] = []) =>
    sums.map((each, nth) => ({ start: starts[nth] ?? '', ...presentSums(each) }))
  const grouped = ({ value, link, visits, points, ...sums }: Group) => ({
    value: value === '' ? null : value,
    ...(groupBy === 'link' && { link: link === undefined ? null : presentLink(link) }),
    ...{ ...presentSums(sums), visits },
    ...(points !== undefined && { points: dated(points) }),
  })
  return {
    ...{ from, to, timezone: zone, interval: interval ?? null, group_by: groupBy ?? null },
    total: { ...presentSums(total), visits: total.visits },
    points: points === undefined ? null : dated(points),
    groups: groups?.map(grouped) ?? null,
    rest: rest ? { values_left: rest.others, ...presentSums(rest), visits: rest.visits } : null,
  }
}

function presentLink({ id, domain, key, url }: NonNullable<Group['link']>) {
  return { id, domain, key, url }
}

function presentSums({ conversions, refunds, values }: Sums) {
  return { conversions, refunds, values: values.map((value) => ({ ...value })) }
}

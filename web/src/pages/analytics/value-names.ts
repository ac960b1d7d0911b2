import type { Dimension, Grouping } from '../../api/click-reads.ts'
import type { ClickGroup } from '../../api/clicks.ts'
import type { ChartFormats } from '../../text/chart-formats.ts'
import type { Catalogue } from '../../text/en.ts'

/** The name of a value of a dimension; '' and null stand for the unknown. */
export function valueName(
  dimension: Dimension,
  value: string | null,
  formats: ChartFormats,
  t: Catalogue,
): string {
  if (value === null || value === '') {
    if (dimension === 'referrer') return t.analytics.unknownReferrer
    return dimension.startsWith('utm_') ? t.common.none : t.analytics.unknown
  }
  if (dimension === 'country') return formats.country(value)
  if (dimension === 'language') return formats.language(value)
  const names: Readonly<Record<string, string>> =
    dimension === 'device' ? t.analytics.devices : dimension === 'source' ? t.analytics.sources : {}
  return names[value] ?? value
}

/** The name of a group: the short form of a link, a tag, or a value. */
export function groupName(
  grouping: Grouping,
  { value, link }: ClickGroup,
  formats: ChartFormats,
  t: Catalogue,
): string {
  if (grouping === 'link') return link ? `${link.domain}/${link.key}` : t.analytics.deletedLink
  if (grouping === 'tag') return value || t.analytics.untagged
  return valueName(grouping, value, formats, t)
}

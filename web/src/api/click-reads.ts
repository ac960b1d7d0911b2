import type { ClicksQuery } from '@terse/contract/clicks'

/** What clicks are counted by; each is a filter too. */
export const DIMENSIONS = [
  'country',
  'language',
  'referrer',
  'device',
  'os',
  'browser',
  'source',
  'rule',
  'variant',
  'label',
  'region',
  'city',
  'utm_source',
  'utm_medium',
  'utm_campaign',
] as const satisfies readonly NonNullable<ClicksQuery['group_by']>[]
export type Dimension = (typeof DIMENSIONS)[number]

/** Values of dimensions are properties of clicks, UTM values of their links; links and tags are what was clicked. */
export type Grouping = Dimension | 'link' | 'tag'

/** Clicks with any of the values; '' stands for clicks whose value is unknown. */
export type ValueFilter = { readonly [Name in Dimension]?: readonly string[] | undefined }

/** Dates in the time zone, or instants; the end is excluded. */
export type Period = { readonly from: string; readonly to: string }

/** Which links clicks are counted of: all, those of a domain, some, or those with any of some tags. */
export type ClickScope = {
  /** By their ids. */
  readonly domain?: string | undefined
  readonly links: readonly string[]
  readonly tags: readonly string[]
}

export type ReportQuery = ValueFilter & Period & { readonly timezone: string }

export type SeriesParts = ReportQuery & { readonly interval: NonNullable<ClicksQuery['interval']> }

/** People and bots by interval. */
export function seriesRead(scope: ClickScope, query: SeriesParts) {
  return reportRead(scope, { ...query, bots: 'include' })
}

export function reportRead(
  scope: ClickScope,
  query: ReportQuery & Pick<ClicksQuery, 'interval' | 'group_by' | 'limit' | 'bots'>,
) {
  const { path, filter } = subjectOf(scope)
  return { path, query: { ...query, ...filter } }
}

/** A single link and a domain have reports of their own, which go back further than those of chosen links. */
function subjectOf({ domain, links, tags }: ClickScope) {
  const [link] = links
  if (link !== undefined && links.length === 1 && tags.length === 0) {
    return { path: `/links/${link}/clicks`, filter: {} }
  }
  const path = domain === undefined ? '/clicks' : `/domains/${domain}/clicks`
  return {
    path,
    filter: { ...(links.length > 0 && { link: links }), ...(tags.length > 0 && { tag: tags }) },
  }
}

import {
  type ClickScope,
  DIMENSIONS,
  type Period,
  type ValueFilter,
} from '../../api/click-reads.ts'
import { type SearchValues, textOf, textsOf, wordOf } from '../../search-text.ts'

export const PERIODS = ['today', '7d', '30d', '90d', '12m'] as const
export type PeriodName = (typeof PERIODS)[number]

const INTERVALS = ['hour', 'day', 'week', 'month'] as const
export type Interval = (typeof INTERVALS)[number]

export const COMPARISONS = ['previous', 'year', 'none'] as const
export type Comparison = (typeof COMPARISONS)[number]

export const MEASURES = ['clicks', 'visitors', 'bots'] as const
export type Measure = (typeof MEASURES)[number]

/** How many links can be compared: there are as many colours. */
export const COMPARED_LINKS_MAX = 5

/** What charts show, as it is in the address. */
export type AnalyticsSearch = ValueFilter & {
  /** The last 30 days when this and `from` are left out. */
  readonly period?: PeriodName | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly interval?: Interval | undefined
  readonly compare?: Comparison | undefined
  readonly measure?: Measure | undefined
  readonly timezone?: string | undefined
}

/** Also whose clicks: of a domain, of links, by their ids; several are beside each other. */
export type AnalyticsPageSearch = AnalyticsSearch & {
  readonly domain?: string | undefined
  readonly link?: readonly string[] | undefined
  readonly tag?: readonly string[] | undefined
}

function parseAnalyticsSearch(values: SearchValues): AnalyticsSearch {
  const bounds = boundsOf(values['from'], values['to'])
  const filters = DIMENSIONS.map((name) => [name, valuesOf(values[name])] as const)
  return {
    ...(Object.fromEntries(filters) as ValueFilter),
    period: bounds === undefined ? wordOf(PERIODS, values['period']) : undefined,
    from: bounds?.from,
    to: bounds?.to,
    interval: wordOf(INTERVALS, values['interval']),
    compare: wordOf(COMPARISONS, values['compare']),
    measure: wordOf(MEASURES, values['measure']),
    timezone: timeZoneOf(values['timezone']),
  }
}

export function parseAnalyticsPageSearch(values: SearchValues): AnalyticsPageSearch {
  return {
    ...parseAnalyticsSearch(values),
    domain: textOf(values['domain']),
    link: textsOf(values['link'])?.slice(0, COMPARED_LINKS_MAX),
    tag: valuesOf(values['tag']),
  }
}

/** What the page of conversions shows: whose, with which values of the visit, of which events and in which currencies. */
export type ConversionsSearch = Pick<
  AnalyticsPageSearch,
  | ('period' | 'from' | 'to' | 'compare' | 'timezone' | 'link' | 'tag')
  | ('country' | 'rule' | 'variant' | 'label')
> & {
  readonly event?: readonly string[] | undefined
  readonly currency?: readonly string[] | undefined
  /** What the chart shows: a currency, or `count`. */
  readonly unit?: string | undefined
}

export function parseConversionsSearch(values: SearchValues): ConversionsSearch {
  const { period, from, to, compare, timezone, link, tag, country, rule, variant, label } =
    parseAnalyticsPageSearch(values)
  return {
    ...{ period, from, to, compare, timezone, link, tag, country, rule, variant, label },
    event: valuesOf(values['event']),
    currency: valuesOf(values['currency']),
    unit: textOf(values['unit']),
  }
}

/** Whose clicks the page shows. */
export function scopeOf({ domain, link = [], tag = [] }: AnalyticsPageSearch): ClickScope {
  return { domain, links: link, tags: tag }
}

/** Nothing but the values that clicks are filtered by. */
export function filterOf(search: AnalyticsSearch): ValueFilter {
  const set = DIMENSIONS.flatMap((name) => {
    const values = search[name]
    return values === undefined ? [] : [[name, values] as const]
  })
  return Object.fromEntries(set)
}

export const NO_VALUES: ValueFilter = Object.fromEntries(
  DIMENSIONS.map((name) => [name, undefined]),
)

/** Adds a value to those that are wanted, or takes it away. */
export function toggled(
  values: readonly string[] | undefined,
  value: string,
): readonly string[] | undefined {
  const before = values ?? []
  const next = before.includes(value) ? before.filter((one) => one !== value) : [...before, value]
  return next.length === 0 ? undefined : next
}

/** As `textsOf`, but an empty text is a value too: it stands for the unknown. */
function valuesOf(value: unknown): readonly string[] | undefined {
  const texts = [value].flat().filter((one) => typeof one === 'string')
  return texts.length === 0 ? undefined : [...new Set(texts)]
}

function boundsOf(from: unknown, to: unknown): Period | undefined {
  if (!isBound(from) || !isBound(to) || Date.parse(from) >= Date.parse(to)) return undefined
  return { from, to }
}

/** A date, or an instant in UTC. */
function isBound(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\dZ)?$/.test(value) &&
    !Number.isNaN(Date.parse(value))
  )
}

function timeZoneOf(value: unknown): string | undefined {
  const name = textOf(value)
  try {
    return name && new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone
  } catch {
    return undefined
  }
}

import { z } from 'zod'
import { countedUntil, queryInteger, timestamp } from './primitives.ts'

const DIMENSIONS = [
  ...(['country', 'device', 'os', 'browser', 'referrer', 'language', 'source'] as const),
  ...(['rule', 'variant', 'label', 'region', 'city'] as const),
] as const
/** Properties of the links that were clicked, as they are now. */
const LINK_DIMENSIONS = ['tag', 'utm_source', 'utm_medium', 'utm_campaign'] as const
const GROUPS = [...DIMENSIONS, ...LINK_DIMENSIONS, 'link'] as const
/** Links that are compared in one report. */
const FILTER_LINKS_MAX = 10
const INTERVALS = ['hour', 'day', 'month'] as const
const BOTS = ['exclude', 'include', 'only'] as const
const FORMATS = ['csv', 'ndjson'] as const

/** As long as values of clicks can be. */
const VALUE_LENGTH_MAX = 253
/** As long as UTM values of links can be. */
const LINK_VALUE_LENGTH_MAX = 500
const VALUES_MAX = 50
const GROUPS_MAX = 1_000
const GROUPS_DEFAULT = 10

const oneOf = <const T extends readonly string[]>(values: T) => z.enum(values)

/** A query parameter that may be sent several times. */
const repeatableUpTo = (lengthMax: number) =>
  z
    .preprocess(
      (value) => (typeof value === 'string' ? [value] : value),
      z.array(z.string().max(lengthMax)).max(VALUES_MAX),
    )
    .optional()

const repeatable = repeatableUpTo(VALUE_LENGTH_MAX)
const repeatableLinkValue = repeatableUpTo(LINK_VALUE_LENGTH_MAX)

/** Identifiers of links, sent one by one. */
export const linksQuery = (linksMax: number) =>
  z.preprocess(
    (value) => (typeof value === 'string' ? [value] : value),
    z.array(z.string().toLowerCase()).min(1).max(linksMax),
  )

const filters = {
  country: repeatable.describe(
    'ISO 3166-1 alpha-2 code, such as `DE`. As with every filter: if sent several times, clicks with any of the values; letter case is ignored; an empty value selects clicks whose value is unknown.',
  ),
  device: repeatable.describe('`desktop`, `mobile`, `tablet` …'),
  os: repeatable.describe('Operating system, such as `iOS`.'),
  browser: repeatable.describe('Such as `Safari`.'),
  referrer: repeatable.describe('Host of the page that the click came from.'),
  language: repeatable.describe('Preferred language, such as `de`.'),
  source: repeatable.describe('`qr` for a tracked QR code, `direct` for all other clicks.'),
  rule: repeatable.describe(
    'Id of the rule of the link that matched. For this, `variant`, `label`, `region` and `city` letter case matters, and an empty value selects clicks that have none.',
  ),
  variant: repeatable.describe('Name of the variant of a split that the visitor got.'),
  label: repeatable.describe(
    "What the short link had in the workspace's parameter for labels, as `newsletter` in `?via=newsletter`; `(other)` for labels beyond 1,000 that are not listed.",
  ),
  region: repeatable.describe('Region, as ISO 3166-2 code such as `US-CA`, or as a name.'),
  city: repeatable.describe('City, by its English name.'),
}

const linkFilters = {
  tag: repeatableLinkValue.describe(
    'Clicks on links that carry this tag now. As with every filter by links: if sent several times, links with any of the values; letter case matters; an empty value selects links without one.',
  ),
  utm_source: repeatableLinkValue.describe(
    'Clicks on links that now add this `utm_source` to their destination, or whose destination has it.',
  ),
  utm_medium: repeatableLinkValue.describe('The same for `utm_medium`.'),
  utm_campaign: repeatableLinkValue.describe('The same for `utm_campaign`.'),
}

export const periodQuery = {
  from: z
    .string()
    .optional()
    .describe(
      'Start of the period: a date, which starts at midnight in `timezone`, or an instant with a zone. When left out, the period has the 30 days up to `to`.',
    ),
  to: z
    .string()
    .optional()
    .describe('End of the period, exclusive: a date or an instant like `from`. Now when left out.'),
  timezone: z
    .string()
    .optional()
    .describe('IANA name of the zone in which days and months start; `UTC` when left out.'),
}

export const botsQuery = oneOf(BOTS)
  .optional()
  .describe(
    'Clicks by bots and other clients that are not people: `exclude` leaves them out (the default), `include` counts them too, `only` counts nothing else.',
  )

export const clicksQuery = z.strictObject({
  ...periodQuery,
  interval: oneOf(INTERVALS)
    .optional()
    .describe('Length of the intervals to count by; `day` when this and `group_by` are left out.'),
  group_by: oneOf(GROUPS)
    .optional()
    .describe('The dimension to count by; values with the most clicks first.'),
  limit: queryInteger(GROUPS_MAX)
    .optional()
    .describe(`Values to return with \`group_by\`; ${GROUPS_DEFAULT} when left out.`),
  bots: botsQuery,
  link: linksQuery(FILTER_LINKS_MAX)
    .optional()
    .describe('Clicks on this link. Sent several times: on any of the links.'),
  ...linkFilters,
  ...filters,
})

export const exportClicksQuery = z.strictObject({
  format: oneOf(FORMATS).optional().describe('`csv` when left out.'),
  ...periodQuery,
  bots: botsQuery,
  ...filters,
})

const counts = {
  clicks: z.int().optional().describe('Clicks by people; left out with `bots=only`.'),
  bots: z.int().optional().describe('All other clicks; left out with `bots=exclude`.'),
}

const start = timestamp.describe('Start of the interval, in the requested zone.')

const visitors = z
  .int()
  .nullable()
  .describe(
    'Distinct visitors of each UTC day, summed over the days; exact for small numbers, an estimate for large ones; null when it cannot be computed, as for clicks that another service only counted.',
  )

const clickPoint = z
  .object({ start, ...counts, visitors: visitors.optional() })
  .meta({ id: 'ClickPoint', description: 'Clicks in one interval.' })

const clickGroup = z
  .object({
    value: z.string().nullable().describe('Null for clicks whose value is unknown.'),
    link: z
      .object({ id: z.string(), domain: z.string(), key: z.string(), url: z.string() })
      .nullable()
      .optional()
      .describe('With `group_by=link`: the link; null when it was deleted.'),
    ...counts,
    points: z
      .array(z.object({ start, ...counts }))
      .optional()
      .describe('One for each interval, when `interval` is given.'),
  })
  .meta({ id: 'ClickGroup', description: 'Clicks with one value of the dimension.' })

const head = {
  from: timestamp.describe('Start of the counted period, rounded to a quarter hour.'),
  to: timestamp.describe('End of the counted period, exclusive, rounded to a quarter hour.'),
  timezone: z.string().describe('The zone in which days and months start.'),
  interval: z.enum(INTERVALS).nullable().describe('Null when clicks are counted only by value.'),
  counted_until: countedUntil,
  opening: z
    .int()
    .nullable()
    .describe(
      'Clicks by people that were imported without their dates, whatever the period: they are part of `clicks` of links, and of no other number in this answer. Null when values or links are selected.',
    ),
}

const total = z.object({
  clicks: z.int().describe('Clicks by people.'),
  bots: z.int().describe('All other clicks.'),
  visitors,
})

const clickSeries = z
  .object({
    ...head,
    group_by: z.null().describe('Null: clicks are counted only by interval.'),
    total: total.describe('The whole period.'),
    data: z.array(clickPoint).describe('Every interval in order, including those without clicks.'),
  })
  .meta({ id: 'ClickSeries', description: 'Clicks by interval.' })

const clickGroups = z
  .object({
    ...head,
    group_by: z.enum(GROUPS).describe('The requested dimension.'),
    total: total.describe('The whole period.'),
    data: z.array(clickGroup).describe('The values with the most clicks, in descending order.'),
    rest: z
      .object({ values: z.int().describe('The number of other values.'), ...counts })
      .describe('The sum of all other values.'),
  })
  .meta({ id: 'ClickGroups', description: 'Clicks by the values of a dimension.' })

/** The body of a report: groups with `group_by`, else a series. */
export const clickReport = z.union([clickSeries, clickGroups]).meta({
  id: 'ClickReport',
  description: 'Groups with `group_by`, else a series.',
})

/** Why a click does not count as one of a person. */
export const FLAGS = ['bot', 'prefetch', 'head', 'no_user_agent', 'capped'] as const

const known = z.string().nullable()

/** One click of an export, or several above the cap. */
export const exportedClick = z
  .object({
    at: timestamp.describe('The time of the click.'),
    link_id: z.uuid().nullable().describe('Null for a link that has been deleted.'),
    domain: known.describe('Domain of the link.'),
    key: known.describe('Key of the link.'),
    country: known.describe('ISO 3166-1 alpha-2 code.'),
    device: known.describe('`desktop`, `mobile`, `tablet` …'),
    os: known.describe('Operating system.'),
    browser: known.describe('Browser or app.'),
    referrer: known.describe('Host of the page that the click came from.'),
    language: known.describe('Preferred language.'),
    source: known.describe('`qr` or `direct`.'),
    visitor: known.describe(
      'The same for all clicks of one visitor within a UTC day, and different on every other day; null with `capped`, and for imported clicks whose visitor is unknown.',
    ),
    flags: z
      .array(z.enum(FLAGS))
      .describe(
        'Why the click does not count as one by a person; empty for a click that does. `capped`: the address made more clicks on the link in one minute than the service stores individually.',
      ),
    count: z
      .int()
      .describe(
        'The number of clicks that this entry represents: 1; with `capped` any number of clicks on the link within the minute of `at`; without flags, clicks that another service counted in the hour or day of `at`.',
      ),
    rule: known.describe('Id of the rule of the link that matched; null if none did.'),
    variant: known.describe('Name of the variant of a split; null if there was none.'),
    label: known.describe('Label of the visit; null for none.'),
    region: known.describe('Region of the visitor; null where it is not known.'),
    city: known.describe('City of the visitor; null where it is not known.'),
    id: known.describe(
      'Names the click among those of its link, for an explanation; null where the visitor is unknown.',
    ),
  })
  .meta({ id: 'ExportedClick', description: 'One click, or several beyond the cap.' })

export const liveClicksQuery = z.strictObject({
  link: linksQuery(FILTER_LINKS_MAX)
    .optional()
    .describe('Clicks on this link. Sent several times: on any of the links.'),
  domain: linksQuery(FILTER_LINKS_MAX)
    .optional()
    .describe(
      'Clicks on the links of this domain, by its name. Several times: of any of the domains. The identifier of a domain is accepted too, as it was before.',
    ),
  bots: botsQuery,
  ...linkFilters,
  ...filters,
})

const liveClick = exportedClick
  .omit({ visitor: true })
  .meta({ id: 'LiveClick', description: 'One click, or several beyond the cap.' })

const liveStart = z
  .object({
    from: timestamp.describe('Start of the first minute.'),
    minutes: z
      .array(
        z.object({
          start: timestamp.describe('Start of the minute.'),
          clicks: z.int().describe('Clicks in this minute that `bots` selects.'),
        }),
      )
      .describe('The last 30 minutes in order; the last one has not ended.'),
    clicks: z.array(liveClick).describe('The latest of these clicks, at most 200, oldest first.'),
  })
  .meta({ id: 'LiveStart', description: 'The data of the event `start`, which comes first.' })

const liveClicks = z
  .object({
    clicks: z.array(liveClick).describe('At most 200.'),
    left_out: z.int().describe('Further clicks of the same moment, which are not sent.'),
  })
  .meta({ id: 'LiveClicks', description: 'The data of an event `clicks`.' })

const LIVE_ENDS = ['unauthorized', 'stopping', 'interrupted'] as const

const liveEnd = z
  .object({
    reason: z
      .enum(LIVE_ENDS)
      .describe(
        '`unauthorized`: the token or session is no longer valid. `stopping`: the node stops. `interrupted`: clicks could not be read.',
      ),
  })
  .meta({ id: 'LiveEnd', description: 'The data of the event `end`, which comes last.' })

/** The data of each event of the stream. */
export const liveEvent = z.union([liveStart, liveClicks, liveEnd])

export type LiveClicksQuery = z.output<typeof liveClicksQuery>
export type LiveClick = z.output<typeof liveClick>
export type LiveStart = z.output<typeof liveStart>
export type LiveEndReason = z.output<typeof liveEnd>['reason']
export type ClickReportResource = z.output<typeof clickReport>
export type ExportedClick = z.output<typeof exportedClick>
export type ClicksQuery = z.output<typeof clicksQuery>
export type ExportClicksQuery = z.output<typeof exportClicksQuery>

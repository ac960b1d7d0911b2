import type { Schema } from '../storage/schema.ts'

/** What clicks are counted by and is a property of their link, as the link is now. */
export const LINK_DIMENSIONS = ['tag', 'utm_source', 'utm_medium', 'utm_campaign'] as const

export type LinkDimension = (typeof LINK_DIMENSIONS)[number]

/** The values of a link by dimension; empty where it has none. */
export type LinkValues = Readonly<Record<LinkDimension, readonly string[]>>

/** The columns that `linkValues` takes. */
export const LINK_VALUE_COLUMNS = [
  'url',
  'tags',
  'utm_source',
  'utm_medium',
  'utm_campaign',
] as const satisfies readonly (keyof Schema['links'])[]

/** As long as a UTM value of a link can be, so that each can be selected. */
const VALUE_LENGTH_MAX = 500

type LinkValueRow = Pick<Schema['links'], (typeof LINK_VALUE_COLUMNS)[number]>

/** The values of a link that no longer exists. */
export const NO_LINK_VALUES: LinkValues = {
  tag: [],
  utm_source: [],
  utm_medium: [],
  utm_campaign: [],
}

/** As in a redirect, a UTM value of the link replaces that of its destination. */
export function linkValues(row: LinkValueRow): LinkValues {
  const utm = (field: Exclude<LinkDimension, 'tag'>) => {
    const value = row[field] ?? parameterOf(row.url, field)
    return value === null || value === '' ? [] : [value]
  }
  return {
    tag: JSON.parse(row.tags),
    utm_source: utm('utm_source'),
    utm_medium: utm('utm_medium'),
    utm_campaign: utm('utm_campaign'),
  }
}

/** Parses only what has the parameter: many links are read for one chart. */
function parameterOf(url: string, name: string): string | null {
  if (!url.includes(`${name}=`) || !URL.canParse(url)) return null
  return new URL(url).searchParams.get(name)?.slice(0, VALUE_LENGTH_MAX) ?? null
}

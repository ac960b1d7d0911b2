import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely'
import { type LinkValues, NO_LINK_VALUES } from '../../links/index.ts'
import { readLinkValues } from '../../links/store/index.ts'
import type { Schema } from '../../storage/schema.ts'
import {
  type Bots,
  type ClickFilter,
  ignoresCase,
  type LinkFilter,
  linkMatchesFilter,
  matchesBots,
  matchesFilter,
} from '../report/click-filter.ts'
import type { RawClick } from '../report/day-of-clicks.ts'
import { addLinkNames, type RawClickRow } from './raw-click-source.ts'

/** How far a feed has read, in the form of its engine. */
export type FeedPosition = string

/** Which clicks of a workspace a live view shows; undefined does not limit them. */
export type LiveSelection = {
  readonly workspaceId: string
  readonly linkSeqs: ReadonlySet<number> | undefined
  readonly keyspaceIds: ReadonlySet<number> | undefined
  readonly filter: ClickFilter
  readonly linkFilter: LinkFilter
  readonly bots: Bots
}

/** A click as the feed returns it. */
export type FedClick = RawClick & {
  readonly workspace_id: string
  readonly keyspace_id: number | null
  /** Undefined unless they were requested. */
  readonly ofLink: LinkValues | undefined
}

/** What was clicked before a position. */
export type RecentClicks = {
  /** The sums of clicks by minutes since 1970-01-01, without empty minutes. */
  readonly minutes: ReadonlyMap<number, number>
  /** The latest clicks, newest first. */
  readonly latest: readonly FedClick[]
}

/** Reads raw clicks in the order in which they were stored, each once. */
export type ClickFeed = {
  /** The position behind all clicks that are stored. */
  end(fromMicros: number): Promise<FeedPosition>
  /**
   * Reads the clicks of the workspaces that were stored since `position` and made since `fromMicros`, in
   * pages. If it fails, some pages may have been read: read on from `end`.
   *
   * @param wanted.linkValues whether to read the values of the links too
   * @param wanted.limit after how many clicks to stop; all when left out
   * @throws {FeedInterrupted} when it is unknown which clicks were read
   */
  since(
    position: FeedPosition,
    wanted: {
      readonly workspaceIds: readonly string[]
      readonly fromMicros: number
      readonly linkValues: boolean
      readonly limit?: number
    },
    onPage: (clicks: readonly FedClick[]) => void,
  ): Promise<FeedPosition>
  /** Reads clicks that were stored before `position` and made since `fromMicros`. */
  recent(
    position: FeedPosition,
    selection: LiveSelection,
    wanted: { readonly fromMicros: number; readonly latestMax: number },
  ): Promise<RecentClicks>
}

/** Transactions may have been given numbers again, so it is unknown which clicks have been read. */
export class FeedInterrupted extends Error {
  override readonly name = 'FeedInterrupted'
}

export const FEED_PAGE_ROWS = 1_000

export const MINUTE_MICROS = 60 * 1_000_000

type FedRow = RawClickRow & { readonly id: number; readonly workspace_id: string }

/** Adds the names of links to rows of the feed, and their values if requested. */
export async function nameFedClicks(
  db: Kysely<Schema>,
  rows: readonly FedRow[],
  wanted: { readonly linkValues: boolean } = { linkValues: false },
): Promise<readonly FedClick[]> {
  if (rows.length === 0) return []
  const named = await addLinkNames(
    db,
    rows.map(({ id, workspace_id, ...row }) => row),
  )
  const linkSeqs = wanted.linkValues ? [...new Set(rows.map(({ link_seq }) => link_seq))] : []
  const ofLinks = await readLinkValues(db, linkSeqs)
  return named.map((click, nth) => ({
    ...click,
    workspace_id: rows[nth]?.workspace_id ?? '',
    keyspace_id: rows[nth]?.keyspace_id ?? null,
    ofLink: ofLinks.get(click.link_seq),
  }))
}

/**
 * Replaces the filter by values of links with the numbers of those links that match, out of those that some clicks
 * are on. The values of links may be in another database than the clicks.
 */
export async function withMatchingLinks(
  db: Kysely<Schema>,
  selection: LiveSelection,
  clicked: () => Promise<readonly number[]>,
): Promise<LiveSelection> {
  const { linkFilter } = selection
  if (linkFilter.size === 0) return selection
  const linkSeqs = await clicked()
  const values = await readLinkValues(db, linkSeqs)
  const matching = linkSeqs.filter((seq) =>
    linkMatchesFilter(linkFilter, values.get(seq) ?? NO_LINK_VALUES),
  )
  return { ...selection, linkSeqs: new Set(matching) }
}

/** The part of a selection that both engines express alike. */
export function conditionsOf({
  linkSeqs,
  keyspaceIds,
  filter,
  bots,
}: Omit<LiveSelection, 'linkFilter'>): RawBuilder<SqlBool> {
  const among = (column: string, values: ReadonlySet<number>) =>
    values.size === 0
      ? sql<SqlBool>`false`
      : sql<SqlBool>`${sql.ref(column)} in (${sql.join([...values])})`
  const values = [...filter].map(([dimension, wanted]) => {
    const column = sql.ref(dimension)
    const value = ignoresCase(dimension) ? sql`lower(${column})` : column
    return sql<SqlBool>`${value} in (${sql.join([...wanted])})`
  })
  const conditions = [
    sql<SqlBool>`true`,
    ...(linkSeqs === undefined ? [] : [among('link_seq', linkSeqs)]),
    ...(keyspaceIds === undefined ? [] : [among('keyspace_id', keyspaceIds)]),
    ...(bots === 'include' ? [] : [sql<SqlBool>`flags ${sql.raw(bots === 'only' ? '<>' : '=')} 0`]),
    ...values,
  ]
  return sql<SqlBool>`${sql.join(conditions, sql` and `)}`
}

export function isSelected(
  { workspaceId, linkSeqs, keyspaceIds, filter, linkFilter, bots }: LiveSelection,
  click: FedClick,
): boolean {
  if (click.workspace_id !== workspaceId) return false
  if (linkSeqs?.has(click.link_seq) === false) return false
  if (keyspaceIds !== undefined && !keyspaceIds.has(click.keyspace_id ?? -1)) return false
  return (
    matchesBots(bots, click) &&
    matchesFilter(filter, click) &&
    linkMatchesFilter(linkFilter, click.ofLink ?? NO_LINK_VALUES)
  )
}

/** Sums clicks by minute; integer division truncates. */
export const MINUTE = sql<number>`at / ${sql.lit(MINUTE_MICROS)}`

export type MinuteSum = { readonly minute: number; readonly clicks: number }

export function addMinutes(sums: Map<number, number>, rows: readonly MinuteSum[]): void {
  for (const { minute, clicks } of rows) {
    sums.set(Number(minute), (sums.get(Number(minute)) ?? 0) + Number(clicks))
  }
}

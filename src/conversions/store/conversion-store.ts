import { CONVERSION_DIMENSIONS } from '@terse/contract/conversions'
import { type ExpressionBuilder, type Kysely, type Selectable, sql } from 'kysely'
import { QUARTER_MICROS } from '../../clicks/index.ts'
import type { Run } from '../../platform/http/api/pagination.ts'
import { SCAN_MS_MAX, type Scans } from '../../storage/scans.ts'
import type { Schema } from '../../storage/schema.ts'
import { StaleRow, UniqueViolation } from '../../storage/store.ts'

export type Conversion = Selectable<Schema['conversions']>

/** A link as lists name it. */
export type ConvertingLink = {
  readonly seq: number
  readonly id: string
  readonly domain: string
  readonly key: string
}

export type LinkedConversion = Conversion & { readonly link: ConvertingLink }

export type ConversionDimension = (typeof CONVERSION_DIMENSIONS)[number]

/** The conditions of a list or report; a conversion must meet all of them. */
export type ConversionFilter = {
  readonly workspaceId: string
  /** Microseconds since the epoch, included. */
  readonly fromMicros: number
  /** Microseconds since the epoch, excluded. */
  readonly toMicros: number
  readonly linkSeqs?: readonly number[] | undefined
  /** Links with one of these tags; '' selects links without tags. */
  readonly tags?: readonly string[] | undefined
  /** Each with one of these values; '' selects those without one. */
  readonly values: { readonly [D in ConversionDimension]?: readonly string[] | undefined }
}

/** A position in a list: by instant, newest first; equal instants are ordered by id. */
export type ConversionMark = Pick<Conversion, 'occurred_at' | 'id'>

/** What conversions of one value, currency and quarter hour add up to. */
export type ConversionSum = {
  /** Of the dimension; the number of the link for reports by links. */
  readonly value: string | number
  /** 0 where it was not asked for. */
  readonly quarter: number
  /** '' for conversions without a value. */
  readonly currency: string
  readonly conversions: number
  readonly refunds: number
  /** Less refunds. */
  readonly amount: number
  readonly refunded: number
}

/** What to add up by. */
type SumBy = {
  readonly dimension: ConversionDimension | 'link' | undefined
  readonly byQuarter: boolean
}

export type ConversionStore = {
  /** Returns the conversions with these digests of keys. */
  findByKeys(workspaceId: string, keys: readonly string[]): Promise<readonly Conversion[]>
  /** Returns the links of the workspace with these numbers. */
  linksOf(workspaceId: string, seqs: readonly number[]): Promise<readonly ConvertingLink[]>
  /**
   * Adds conversions of one workspace.
   *
   * @throws {StaleRow} when another transaction has used one of their keys
   */
  insert(conversions: readonly Conversion[]): Promise<void>
  /** Adds those conversions of one workspace whose ids are new, and returns how many. */
  insertNew(conversions: readonly Conversion[]): Promise<number>
  count(workspaceId: string): Promise<number>
  /** Returns consecutive conversions, newest first, of links that exist. */
  run(
    filter: ConversionFilter,
    limit: number,
    beyond: ConversionMark | undefined,
  ): Promise<Run<LinkedConversion, ConversionMark>>
  /** @throws {ScanTooLong} */
  sums(filter: ConversionFilter, by: SumBy, signal?: AbortSignal): Promise<readonly ConversionSum[]>
  /**
   * Returns how many visits led to at least one conversion, by value.
   *
   * @throws {ScanTooLong}
   */
  visits(
    filter: ConversionFilter,
    dimension: SumBy['dimension'],
    signal?: AbortSignal,
  ): Promise<ReadonlyMap<string | number, number>>
  /** Returns how many visits of each variant of a link led to a conversion, of any event or of one. */
  visitsByVariant(
    filter: ConversionFilter,
    signal?: AbortSignal,
  ): Promise<
    readonly { readonly rule: string; readonly variant: string; readonly visits: number }[]
  >
  /** Deletes some conversions of links. True when there may be more. */
  eraseLinks(linkSeqs: readonly number[]): Promise<boolean>
}

/** Rows of one statement, and of one step of an erasure. */
const ROWS_MAX = 500

export function conversionStore(db: Kysely<Schema>, scans: Scans): ConversionStore {
  return { ...rows(db), ...lists(scans) }
}

type Lists = Pick<ConversionStore, 'run' | 'sums' | 'visits' | 'visitsByVariant'>

function rows(db: Kysely<Schema>): Omit<ConversionStore, keyof Lists> {
  async function addToCount(workspaceId: string, more: number): Promise<void> {
    await db
      .insertInto('conversion_counts')
      .values({ workspace_id: workspaceId, conversions: Math.max(0, more) })
      .onConflict((conflict) =>
        conflict.column('workspace_id').doUpdateSet((eb) => ({
          conversions: eb('conversion_counts.conversions', '+', more),
        })),
      )
      .execute()
  }

  return {
    async findByKeys(workspaceId, keys) {
      if (keys.length === 0) return []
      return db
        .selectFrom('conversions')
        .selectAll()
        .where('workspace_id', '=', workspaceId)
        .where('idempotency_key', 'in', keys)
        .execute()
    },
    async linksOf(workspaceId, seqs) {
      const links: ConvertingLink[] = []
      for (let first = 0; first < seqs.length; first += ROWS_MAX) {
        const some = await db
          .selectFrom('links')
          .innerJoin('keyspaces', 'keyspaces.id', 'links.keyspace_id')
          .select(['links.seq', 'links.id', 'links.key', 'keyspaces.host as domain'])
          .where('links.workspace_id', '=', workspaceId)
          .where('links.seq', 'in', seqs.slice(first, first + ROWS_MAX))
          .execute()
        links.push(...some)
      }
      return links
    },
    async insert(conversions) {
      const [first] = conversions
      if (first === undefined) return
      try {
        await db.insertInto('conversions').values(conversions).execute()
      } catch (error) {
        throw error instanceof UniqueViolation ? new StaleRow() : error
      }
      await addToCount(first.workspace_id, conversions.length)
    },
    async insertNew(conversions) {
      const [first] = conversions
      if (first === undefined) return 0
      const { numInsertedOrUpdatedRows = 0n } = await db
        .insertInto('conversions')
        .values(conversions)
        .onConflict((conflict) => conflict.columns(['workspace_id', 'id']).doNothing())
        .executeTakeFirst()
      await addToCount(first.workspace_id, Number(numInsertedOrUpdatedRows))
      return Number(numInsertedOrUpdatedRows)
    },
    async count(workspaceId) {
      const row = await db
        .selectFrom('conversion_counts')
        .select('conversions')
        .where('workspace_id', '=', workspaceId)
        .executeTakeFirst()
      return row?.conversions ?? 0
    },
    async eraseLinks(linkSeqs) {
      const rows = await db
        .selectFrom('conversions')
        .select(['workspace_id', 'id'])
        .where('link_seq', 'in', linkSeqs)
        .limit(ROWS_MAX)
        .execute()
      for (const [workspaceId, some] of Map.groupBy(rows, (row) => row.workspace_id)) {
        const ids = some.map(({ id }) => id)
        await db
          .deleteFrom('conversions')
          .where('workspace_id', '=', workspaceId)
          .where('id', 'in', ids)
          .execute()
        await addToCount(workspaceId, -ids.length)
      }
      return rows.length === ROWS_MAX
    },
  }
}

function lists(scans: Scans): Lists {
  const turn = <T>(workspaceId: string, signal: AbortSignal | undefined, work: () => Promise<T>) =>
    scans.begin(workspaceId, { msMax: SCAN_MS_MAX, signal }).turn(work)

  return {
    async run(filter, limit, beyond) {
      const read = () =>
        matching(scans.db, filter)
          .innerJoin('links', 'links.seq', 'conversions.link_seq')
          .innerJoin('keyspaces', 'keyspaces.id', 'links.keyspace_id')
          .selectAll('conversions')
          .select(['links.id as link_id', 'links.key as link_key', 'keyspaces.host as domain'])
          .$if(beyond !== undefined, (qb) =>
            qb.where((eb) =>
              eb(
                eb.refTuple('conversions.occurred_at', 'conversions.id'),
                '<',
                eb.tuple(beyond?.occurred_at ?? 0, beyond?.id ?? ''),
              ),
            ),
          )
          .orderBy('conversions.occurred_at', 'desc')
          .orderBy('conversions.id', 'desc')
          .limit(limit + 1)
          .execute()
      const rows = await turn(filter.workspaceId, undefined, read)
      const items = rows.slice(0, limit).map(({ link_id, link_key, domain, ...row }) => ({
        ...row,
        link: { seq: row.link_seq, id: link_id, domain, key: link_key },
      }))
      const last = items.at(-1)
      const mark = last && { occurred_at: last.occurred_at, id: last.id }
      return { items, rest: rows.length > limit ? mark : undefined }
    },
    sums: (filter, by, signal) =>
      turn(filter.workspaceId, signal, () => sumsOf(scans.db, filter, by)),
    async visits(filter, dimension, signal) {
      const read = () =>
        matching(scans.db, filter)
          .select((eb) => [
            valueIn(eb, dimension).as('name'),
            eb.fn.count<number>('visit').distinct().as('visits'),
          ])
          .where(isNoRefund)
          .groupBy('name')
          .execute()
      const rows = await turn(filter.workspaceId, signal, read)
      return new Map(rows.map(({ name, visits }) => [name, Number(visits)]))
    },
    async visitsByVariant(filter, signal) {
      const read = () =>
        matching(scans.db, filter)
          .select((eb) => [
            ...(['rule', 'variant'] as const),
            eb.fn.count<number>('visit').distinct().as('visits'),
          ])
          .where(isNoRefund)
          .groupBy(['rule', 'variant'])
          .execute()
      const rows = await turn(filter.workspaceId, signal, read)
      return rows.map((row) => ({ ...row, visits: Number(row.visits) }))
    },
  }
}

type Builder = ExpressionBuilder<Schema, 'conversions'>

function matching(db: Kysely<Schema>, filter: ConversionFilter) {
  const { workspaceId, fromMicros, toMicros, linkSeqs, tags, values } = filter
  let query = db
    .selectFrom('conversions')
    .where('conversions.workspace_id', '=', workspaceId)
    .where('conversions.occurred_at', '>=', fromMicros)
    .where('conversions.occurred_at', '<', toMicros)
  if (linkSeqs !== undefined) {
    // No link has the number 0: of links that do not exist there is nothing.
    query = query.where('conversions.link_seq', 'in', linkSeqs.length === 0 ? [0] : linkSeqs)
  }
  for (const dimension of CONVERSION_DIMENSIONS) {
    const wanted = values[dimension]
    if (wanted === undefined || wanted.length === 0) continue
    query = query.where((eb) => eb(valueIn(eb, dimension), 'in', wanted))
  }
  if (tags !== undefined && tags.length > 0) query = query.where((eb) => hasTag(eb, filter, tags))
  return query
}

function hasTag(eb: Builder, { workspaceId }: ConversionFilter, tags: readonly string[]) {
  const tagged = eb
    .selectFrom('link_tags')
    .select('link_tags.link_seq')
    .where('link_tags.workspace_id', '=', workspaceId)
  const conditions = [
    eb('conversions.link_seq', 'in', tagged.where('link_tags.tag', 'in', tags)),
    ...(tags.includes('') ? [eb('conversions.link_seq', 'not in', tagged)] : []),
  ]
  return eb.or(conditions)
}

function valueIn(eb: Builder, dimension: SumBy['dimension']) {
  if (dimension === undefined) return sql<string | number>`0`
  if (dimension === 'link') return sql<string | number>`${eb.ref('conversions.link_seq')}`
  return sql<string | number>`coalesce(${eb.ref(`conversions.${dimension}`)}, '')`
}

function isNoRefund(eb: Builder) {
  return eb.or([eb('conversions.value', 'is', null), eb('conversions.value', '>=', 0)])
}

async function sumsOf(
  db: Kysely<Schema>,
  filter: ConversionFilter,
  { dimension, byQuarter }: SumBy,
): Promise<readonly ConversionSum[]> {
  const quarter = byQuarter
    ? sql<number>`conversions.occurred_at / ${sql.lit(QUARTER_MICROS)}`
    : sql<number>`0`
  const rows = await matching(db, filter)
    .select((eb) => [
      valueIn(eb, dimension).as('name'),
      quarter.as('quarter'),
      sql<string>`coalesce(conversions.currency, '')`.as('unit'),
      sql<number>`sum(case when conversions.value < 0 then 0 else 1 end)`.as('conversions'),
      sql<number>`sum(case when conversions.value < 0 then 1 else 0 end)`.as('refunds'),
      // As floating-point numbers, which are exact up to 2^53: integers beyond that cannot be read.
      sql<number>`cast(coalesce(sum(conversions.value), 0) as double precision)`.as('amount'),
      sql<number>`cast(sum(case when conversions.value < 0 then conversions.value else 0 end)
        as double precision)`.as('refunded'),
    ])
    .groupBy(['name', 'quarter', 'unit'])
    .execute()
  return rows.map(({ name, unit, ...row }) => ({
    value: name,
    currency: unit,
    quarter: Number(row.quarter),
    conversions: Number(row.conversions),
    refunds: Number(row.refunds),
    amount: Number(row.amount),
    refunded: Number(row.refunded),
  }))
}

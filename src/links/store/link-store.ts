import { type CompiledQuery, type Kysely, type QueryResult, sql } from 'kysely'
import type { Page, Run } from '../../platform/http/api/pagination.ts'
import type { Scans } from '../../storage/scans.ts'
import type { Schema } from '../../storage/schema.ts'
import { pipeline, statement } from '../../storage/statement.ts'
import { type LockName, StaleRow, TooManyVariants } from '../../storage/store.ts'
import type { WriteBuffer } from '../../storage/write-buffer.ts'
import { foldKey } from '../key.ts'
import type { Link, NewLink, UncountedLink } from '../link.ts'
import type { LinkValues } from '../link-dimensions.ts'
import type { HostCounts, LinkFilter, LinkQuery, LinkRun } from '../link-query.ts'
import type { LinkNumbering } from './link-numbers.ts'
import { linkPages } from './link-pages.ts'
import {
  countersOf,
  countOfWrite,
  deleteRow,
  deleteTags,
  findCount,
  findMany,
  insertInto,
  insertTags,
  readLinkValues,
  selectLinks,
  toRow,
  uncounted,
  updateRow,
  withCounters,
} from './link-rows.ts'
import type { FindPage } from './link-scan.ts'

/** `taken`: another link has the key; `too_many_variants`: too many keys differ from it only by letter case. */
type KeyState = 'free' | 'taken' | 'too_many_variants'

type VariantQuery = { keyspaceId: number; foldedKey: string; limit: number }

/** Finds links whose keys differ at most by letter case. */
const findVariants = statement((db, { keyspaceId, foldedKey, limit }: VariantQuery) =>
  db
    .selectFrom('links')
    .select(['seq', 'key'])
    .where('keyspace_id', '=', keyspaceId)
    .where('key_folded', '=', foldedKey)
    .limit(limit),
)

/** Reads one index entry for each variant, at most `variantsMax + 1`. */
async function findKeyState(
  db: Kysely<Schema>,
  keyspaceId: number,
  key: string,
  variantsMax: number,
): Promise<KeyState> {
  const query = { keyspaceId, foldedKey: foldKey(key), limit: variantsMax + 1 }
  const { rows } = await findVariants(db, query)
  if (rows.some((row) => row.key === key)) return 'taken'
  return rows.length < variantsMax ? 'free' : 'too_many_variants'
}

/**
 * Returns statements that read the variants of a key. The last one returns a row per variant, at most
 * `variantsMax + 1`.
 */
function variantStatements(
  { db, lockName }: { db: Kysely<Schema>; lockName: LockName | undefined },
  at: { readonly keyspace_id: number; readonly key: string },
  variantsMax: number,
): CompiledQuery[] {
  if (variantsMax === Number.POSITIVE_INFINITY) return []
  const query = { keyspaceId: at.keyspace_id, foldedKey: foldKey(at.key), limit: variantsMax + 1 }
  const found: CompiledQuery = findVariants.query(db, query)
  const lock = lockName?.(db, `link-variants ${query.keyspaceId}/${query.foldedKey}`)
  return lock === undefined ? [found] : [lock, found]
}

export type LinkStore = {
  findById(workspaceId: string, id: string): Promise<Link | undefined>
  /** Like `findById`, without reading the counters, for a transaction that writes the link. */
  findUncounted(workspaceId: string, id: string): Promise<UncountedLink | undefined>
  /** Returns the links that are in the workspace, in any order, and leaves out others. */
  findMany(workspaceId: string, ids: readonly string[]): Promise<readonly UncountedLink[]>
  /** Returns what clicks on these links are counted by, by the links' numbers. */
  valuesOf(linkSeqs: readonly number[]): Promise<ReadonlyMap<number, LinkValues>>
  /** How many links of a keyspace take more of a path than their key. */
  countPaths(keyspaceId: number): Promise<number>
  /** Whether a new link could have the key, by one index look-up. */
  findKeyState(keyspaceId: number, key: string, variantsMax: number): Promise<KeyState>
  /**
   * Inserts a link. Returns undefined when the key is taken in its keyspace.
   *
   * @param variantsMax the maximum number of links whose keys differ from this one at most by
   *   letter case, the new one included. Transactions that count the variants of the same key wait
   *   for each other, so each sees what the earlier ones have added. Not checked when omitted.
   * @throws {TooManyVariants}
   */
  insert(link: NewLink, variantsMax?: number): Promise<Link | undefined>
  /**
   * Updates everything but identifiers and counters of the link as it was read.
   *
   * @param variantsMax as for `insert`; checked only when the key or the keyspace changes
   * @throws {StaleRow} when it was changed since
   * @throws {UniqueViolation} when the new key is taken in its keyspace
   * @throws {TooManyVariants}
   */
  update(link: UncountedLink, before: UncountedLink, variantsMax?: number): Promise<Link>
  /**
   * Ensures that every new link gets a number above `seq`: existing clicks with such a number would
   * count for it.
   */
  skipNumbers(seq: number): Promise<void>
  /** The last number that was given to a link; 0 when there was none. Deleted links keep theirs. */
  lastNumber(): Promise<number>
  /**
   * Returns the deleted link.
   *
   * @param check gets the link before it is deleted; where it throws, the link stays
   */
  delete(
    workspaceId: string,
    id: string,
    check?: (link: UncountedLink) => void,
  ): Promise<UncountedLink | undefined>
  /**
   * One page and the total. Unfiltered and by `created_at`, its cost does not depend on how deep
   * the page is or how many links there are; otherwise it grows with the number of links that it
   * must read, which happens in turns and does not block the event loop.
   *
   * @throws {ScanTooLong} when it must read for too long
   */
  page(query: LinkQuery): Promise<Page<Link>>
  /**
   * Returns the links of a run. Unfiltered, its cost does not depend on where the run begins;
   * filtered, it grows with the number of links between its start and its end.
   *
   * @throws {ScanTooLong} when it must read for too long
   */
  run(run: LinkRun): Promise<Run<Link, number>>
  /**
   * Counts the links of a list. Filtered, its cost grows with the workspace's number of links.
   *
   * @throws {ScanTooLong} when it must read for too long
   */
  count(filter: LinkFilter): Promise<number>
  /**
   * Counts the links on each of some hosts; those that other workspaces share are not counted. Its cost grows with the
   * number of those links.
   *
   * @throws {ScanTooLong} when it must read for too long
   */
  countByHost(counts: HostCounts): Promise<ReadonlyMap<string, number>>
}

const insertLink = statement((db, row: ReturnType<typeof toRow>) => insertInto(db, row))

const insertLinkReturning = statement((db, row: ReturnType<typeof toRow>) =>
  insertInto(db, row).returning('seq'),
)

const findById = statement((db, owned: { workspaceId: string; id: string }) =>
  selectLinks(db)
    .where('links.id', '=', owned.id)
    .where('links.workspace_id', '=', owned.workspaceId),
)

async function countPaths(db: Kysely<Schema>, keyspaceId: number): Promise<number> {
  const { links } = await db
    .selectFrom('links')
    .select((eb) => eb.fn.countAll<number>().as('links'))
    .where('keyspace_id', '=', keyspaceId)
    .where('path', '<>', sql.lit('none'))
    .executeTakeFirstOrThrow()
  return Number(links)
}

/** From where an imported link came. */
const deleteOrigin = statement((db, { workspaceId, seq }: { workspaceId: string; seq: number }) =>
  db
    .deleteFrom('imported_links')
    .where('workspace_id', '=', workspaceId)
    .where('link_seq', '=', seq),
)

type LinkStoreParts = {
  readonly db: Kysely<Schema>
  readonly scans: Scans
  readonly findPage: FindPage
  readonly writes: WriteBuffer
  readonly returnsInsertId: boolean
  readonly lockName: LockName | undefined
  readonly numbering: LinkNumbering
}

/**
 * @param on.db for look-ups by an index
 * @param on.scans for queries that may read many rows
 * @param on.returnsInsertId whether an insert returns the new row's number without `returning`
 * @param on.lockName undefined when the engine runs one writing transaction at a time
 */
export function linkStore(on: LinkStoreParts): LinkStore {
  const { db, writes } = on
  const pages = linkPages(on)

  /** Returns the new row's number, or undefined when the key is taken. */
  function numberOf(inserted: QueryResult<{ seq: number }>): number | undefined {
    if (!on.returnsInsertId) return inserted.rows[0]?.seq
    return inserted.numAffectedRows === 0n ? undefined : Number(inserted.insertId)
  }

  const selectVariants = (at: Pick<Link, 'keyspace_id' | 'key'>, variantsMax: number) =>
    variantStatements(on, at, variantsMax)

  async function findUncounted(workspaceId: string, id: string) {
    const [row] = (await findById(db, { workspaceId, id })).rows
    return row && uncounted(row)
  }

  return {
    async findById(workspaceId, id) {
      const [link] = await withCounters(db, (await findById(db, { workspaceId, id })).rows)
      return link
    },

    findUncounted,
    findMany: (workspaceId, ids) => findMany(db, workspaceId, ids),

    valuesOf: (linkSeqs) => readLinkValues(db, linkSeqs),

    countPaths: (keyspaceId) => countPaths(db, keyspaceId),

    findKeyState: (keyspaceId, key, variantsMax) => findKeyState(db, keyspaceId, key, variantsMax),

    async insert(link, variantsMax = Number.POSITIVE_INFINITY) {
      const [inserted, ...variants] = await pipeline(db, [
        on.returnsInsertId
          ? (insertLink.query(db, toRow(link)) as CompiledQuery<never>)
          : insertLinkReturning.query(db, toRow(link)),
        ...selectVariants(link, variantsMax),
      ])
      const seq = numberOf(inserted)
      if (seq === undefined) return undefined
      refuseTooMany(variants.at(-1), variantsMax)
      const complete = { ...link, seq, clicks: 0, last_click: null }
      for (const query of insertTags(db, complete)) await writes.add(query)
      writes.countLink(countOfWrite({ after: complete }))
      return complete
    },

    async update(link, before, variantsMax = Number.POSITIVE_INFINITY) {
      const isRenamed =
        foldKey(link.key) !== foldKey(before.key) || link.keyspace_id !== before.keyspace_id
      const [first, ...rest] = updateRow(db, link, before)
      const [counted, others] = await unlessStale(
        pipeline(db, [findCount.query(db, { seq: before.seq }), first]),
        pipeline(db, [
          ...rest,
          deleteTags(db, link),
          ...insertTags(db, link),
          ...(isRenamed ? selectVariants(link, variantsMax) : []),
        ]),
      )
      if (isRenamed) refuseTooMany(others.at(-1), variantsMax)
      writes.countLink(countOfWrite({ before, after: link }))
      return { ...link, ...countersOf(counted.rows[0]) }
    },

    skipNumbers: (seq) => on.numbering.skip(db, seq),
    lastNumber: () => on.numbering.last(db),

    async delete(workspaceId, id, check) {
      const link = await findUncounted(workspaceId, id)
      if (link !== undefined) await deleteLink(on, link, check)
      return link
    },

    async page(query) {
      await writes.flush()
      return pages.page(query)
    },

    run: (run) => pages.run(run),

    countByHost: (counts) => pages.countByHost(counts),

    async count(filter) {
      await writes.flush()
      return pages.count(filter)
    },
  }
}

/** @throws {StaleRow} when it was changed since it was read */
async function deleteLink(
  { db, writes }: Pick<LinkStoreParts, 'db' | 'writes'>,
  link: UncountedLink,
  check: ((link: UncountedLink) => void) | undefined,
): Promise<void> {
  check?.(link)
  const { workspace_id: workspaceId, seq } = link
  const [deleted] = await pipeline(db, [
    deleteRow(db, link),
    deleteTags(db, link),
    deleteOrigin.query(db, { workspaceId, seq }),
  ])
  if (deleted.numAffectedRows === 0n) throw new StaleRow()
  writes.countLink(countOfWrite({ before: link }))
}

/**
 * Returns the first result of `first` and those of `others`, which were sent right after it.
 *
 * @throws {StaleRow} when the second statement of `first` affected no row, also when one of `others` failed:
 *   that a stale row is inserted again violates a unique constraint
 */
async function unlessStale<C>(
  first: Promise<readonly [QueryResult<C>, QueryResult<unknown>]>,
  others: Promise<readonly QueryResult<unknown>[]>,
): Promise<[QueryResult<C>, readonly QueryResult<unknown>[]]> {
  const [started, ended] = await Promise.allSettled([first, others])
  if (started.status === 'rejected') throw started.reason
  const [read, written] = started.value
  if (written.numAffectedRows === 0n) throw new StaleRow()
  if (ended.status === 'rejected') throw ended.reason
  return [read, ended.value]
}

function refuseTooMany(variants: QueryResult<unknown> | undefined, variantsMax: number): void {
  if ((variants?.rows.length ?? 0) > variantsMax) throw new TooManyVariants()
}

import type { Page, Run } from '../platform/database/page.ts'
import type { Link, NewLink, UncountedLink } from './link.ts'

export type LinkSortField = 'created_at' | 'updated_at' | 'clicks' | 'last_click' | 'key'

/** Which of a workspace's links a list holds: those that meet every condition. */
export type LinkFilter = {
  readonly workspaceId: string
  /** Text within key, destination or a tag, whatever its case. */
  readonly search?: string | undefined
  /** The link at this address meets the condition of `search`, too. */
  readonly shortLink?: LinkAddress | undefined
  readonly host?: string | undefined
  /** The link must carry each of these. */
  readonly tags?: readonly string[] | undefined
}

/** Where a link is, whatever the letter case of its key. */
export type LinkAddress = { readonly host: string; readonly key: string }

export type LinkQuery = LinkFilter & {
  readonly offset: number
  readonly limit: number
  readonly sort: { readonly field: LinkSortField; readonly descending: boolean }
}

/** Consecutive links of a list in the order of creation. */
export type LinkRun = LinkFilter & {
  readonly limit: number
  readonly descending: boolean
  /** The number behind which the run begins, whether or not a link has it; the list's beginning when undefined. */
  readonly beyond: number | undefined
}

/** Whether the links must be looked for among many rows, rather than in an index. */
export function isFiltered({ search, shortLink, host, tags }: LinkFilter): boolean {
  return [search, shortLink, host, tags].some((condition) => condition !== undefined)
}

/** As `isFiltered`; a page in another order than that of creation is looked for, too. */
export function needsScan(query: LinkQuery): boolean {
  return isFiltered(query) || query.sort.field !== 'created_at'
}

export type LinkStore = {
  findById(workspaceId: string, id: string): Promise<Link | undefined>
  /** The same in fewer steps, for a unit that writes the link. */
  findUncounted(workspaceId: string, id: string): Promise<UncountedLink | undefined>
  /**
   * Undefined when the key is taken in its keyspace.
   *
   * @param variantsMax how many links may have this key but for letter case, the new one included. Units
   *   that count the variants of the same key wait for each other, so each sees what the earlier ones
   *   have added. Not counted when left out.
   * @throws {TooManyVariants}
   */
  insert(link: NewLink, variantsMax?: number): Promise<Link | undefined>
  /**
   * Writes everything but identifiers and counters over the link as it was read.
   *
   * @param variantsMax as for `insert`; counted only where the key or the keyspace is another
   * @throws {StaleRow} when it was changed since
   * @throws {UniqueViolation} when the new key is taken in its keyspace
   * @throws {TooManyVariants}
   */
  update(link: UncountedLink, before: UncountedLink, variantsMax?: number): Promise<Link>
  /**
   * Makes sure that no new link gets a number up to `seq`: clicks that name them would count for it.
   */
  skipNumbers(seq: number): Promise<void>
  /** What was deleted. */
  delete(workspaceId: string, id: string): Promise<UncountedLink | undefined>
  /**
   * One page and the total. Unfiltered and by `created_at`, its cost does not depend on how deep the
   * page is or how many links there are; otherwise it grows with the links that it must look at, and
   * is done away from the event loop, in turns.
   *
   * @throws {ScanTooLong} when it must read for too long
   */
  page(query: LinkQuery): Promise<Page<Link>>
  /**
   * The links of a run. Unfiltered, its cost does not depend on where the run begins; filtered, it grows
   * with the links between its beginning and its end, as that of `page` does.
   *
   * @throws {ScanTooLong} when it must read for too long
   */
  run(run: LinkRun): Promise<Run<Link, number>>
  /**
   * How many links a list has. Filtered, its cost grows with the links of the workspace.
   *
   * @throws {ScanTooLong} when it must read for too long
   */
  count(filter: LinkFilter): Promise<number>
}

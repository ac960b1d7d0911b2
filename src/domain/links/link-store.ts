import type { Page } from '../page.ts'
import type { Link, NewLink, UncountedLink } from './link.ts'

export type LinkSortField = 'created_at' | 'updated_at' | 'clicks' | 'last_click' | 'key'

export type LinkQuery = {
  readonly workspaceId: string
  readonly offset: number
  readonly limit: number
  readonly sort: { readonly field: LinkSortField; readonly descending: boolean }
  /** Text within key, destination or a tag, whatever its case. */
  readonly search?: string | undefined
  readonly host?: string | undefined
  readonly tag?: string | undefined
}

/** Whether a page must be looked for among many rows, rather than in an index. */
export function needsScan(query: LinkQuery): boolean {
  const { search, host, tag, sort } = query
  return (
    search !== undefined || host !== undefined || tag !== undefined || sort.field !== 'created_at'
  )
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
}

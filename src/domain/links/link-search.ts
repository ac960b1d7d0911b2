import type { FairQueue, FairQueueOptions } from '../../lib/fair-queue.ts'
import { Failure } from '../failure.ts'
import type { Page } from '../page.ts'
import { ScanTooLong } from '../scan-too-long.ts'
import type { Link } from './link.ts'
import type { LinkQuery, LinkStore } from './link-store.ts'

/** Searches under way read in turns, so many of them cost no more than few: only memory bounds them. */
export const SEARCH_QUEUE: FairQueueOptions = {
  work: 'searches',
  concurrency: 64,
  concurrencyPerOwner: 2,
  waitingPerOwnerMax: 16,
  waitingMax: 4_096,
  deadlineMs: 5_000,
}

/**
 * Reads a page that must be looked for among many links, when it is the workspace's turn.
 *
 * @throws {Failure} `validation_failed` when the search itself takes too long
 * @throws {QueueRefusal} when too many searches are waiting
 */
export async function searchLinks(
  store: LinkStore,
  queue: FairQueue,
  query: LinkQuery,
): Promise<Page<Link>> {
  try {
    return await queue.run(query.workspaceId, () => store.page(query))
  } catch (error) {
    throw error instanceof ScanTooLong ? tooLong(query) : error
  }
}

function tooLong({ search, tag, host }: LinkQuery): Failure {
  const text = 'takes too long among so many links; add a tag, or sort by created_at'
  if (search !== undefined) return Failure.invalid({ search: [text] })
  if (host !== undefined) return Failure.invalid({ domain: [text] })
  return Failure.invalid({ [tag === undefined ? 'sort' : 'tag']: [text] })
}

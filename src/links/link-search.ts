import { ScanTooLong } from '../platform/database/scans.ts'
import { Failure } from '../platform/failure.ts'
import type { FairQueue, FairQueueOptions } from '../platform/work/fair-queue.ts'
import type { LinkFilter } from './link-query.ts'

/** Running searches take turns to read, so their number costs memory only, not latency. */
export const SEARCH_QUEUE: FairQueueOptions = {
  work: 'searches',
  concurrency: 64,
  concurrencyPerOwner: 2,
  waitingPerOwnerMax: 16,
  waitingMax: 4_096,
  deadlineMs: 5_000,
}

/**
 * Runs a read that scans many links once the fair queue has a slot for its workspace.
 *
 * @throws {Failure} `validation_failed` when the search itself takes too long
 * @throws {QueueRefusal} when too many searches are waiting
 * @throws the reason of the filter's signal when that aborts first
 */
export async function searchLinks<T>(
  queue: FairQueue,
  filter: LinkFilter,
  read: () => Promise<T>,
): Promise<T> {
  try {
    return await queue.run(filter.workspaceId, read, filter.signal)
  } catch (error) {
    throw error instanceof ScanTooLong ? tooLong(filter) : error
  }
}

/** The parameters of the conditions, the slowest first. */
const PARAMETERS = [
  ['search', 'search'],
  ['shortLink', 'search'],
  ['hosts', 'domain'],
  ['url', 'url'],
  ['states', 'state'],
  ['createdFrom', 'created_after'],
  ['createdTo', 'created_before'],
  ['tags', 'tag'],
  ['externalId', 'external_id'],
  ['key', 'key'],
] as const satisfies readonly (readonly [keyof LinkFilter, string])[]

function tooLong(filter: LinkFilter): Failure {
  const [, parameter] = PARAMETERS.find(([name]) => filter[name] !== undefined) ?? ['', 'sort']
  return Failure.invalid({ [parameter]: [{ code: 'too_slow', reason: 'links' }] })
}

import type { LinkDoes } from '@terse/contract/link-fields'
import { Failure } from '../platform/failure.ts'
import type { FairQueue, FairQueueOptions } from '../platform/work/fair-queue.ts'
import { ScanTooLong } from '../storage/scans.ts'

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
  ['does', 'does'],
  ['createdFrom', 'created_after'],
  ['createdTo', 'created_before'],
  ['tags', 'tag'],
  ['managedBy', 'managed_by'],
  ['externalId', 'external_id'],
  ['key', 'key'],
] as const satisfies readonly (readonly [keyof LinkFilter, string])[]

function tooLong(filter: LinkFilter): Failure {
  const [, parameter] = PARAMETERS.find(([name]) => filter[name] !== undefined) ?? ['', 'sort']
  return Failure.invalid({ [parameter]: [{ code: 'too_slow', reason: 'links' }] })
}

/** `active` and `expired` follow from `expires_at`, `protected` from `password`. */
export type LinkState = 'active' | 'expired' | 'protected'

export type LinkSortField = 'created_at' | 'updated_at' | 'clicks' | 'last_click' | 'key'

/** The conditions of a list; a link must meet all of them. */
export type LinkFilter = {
  readonly workspaceId: string
  /** Text that key, destination, a tag or the notes contain, ignoring case; of notes, that of ASCII letters. */
  readonly search?: string | undefined
  /** The link at this address also meets the condition of `search`. */
  readonly shortLink?: LinkAddress | undefined
  /** The link must be on one of these hosts. */
  readonly hosts?: readonly string[] | undefined
  /** The exact key, in Unicode normal form C. */
  readonly key?: string | undefined
  readonly externalId?: number | undefined
  /** The first instant of creation, in microseconds since the epoch. */
  readonly createdFrom?: number | undefined
  /** The instant after the last one of creation, in microseconds since the epoch. */
  readonly createdTo?: number | undefined
  /** The link must have all of these tags. */
  readonly tags?: readonly string[] | undefined
  /** Whether the link must be archived, or must not be; either when undefined. */
  readonly archived?: boolean | undefined
  /** The name of the set that manages the link. */
  readonly managedBy?: string | undefined
  /** The destination, in its stored form. */
  readonly url?: string | undefined
  /** The link must be in all of these states. */
  readonly states?: readonly LinkState[] | undefined
  /** The link must do all of this. */
  readonly does?: readonly LinkDoes[] | undefined
  /** The instant at which links are `active` or `expired`, as `YYYY-MM-DDTHH:MM:SS.ffffffZ`. */
  readonly now?: string | undefined
  /** Ends a search when it aborts: its client has gone. */
  readonly signal?: AbortSignal | undefined
}

/** The address of a link; the letter case of the key is ignored. */
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
  /**
   * The run starts after this link number, whether or not such a link exists; at the start of the list
   * when undefined.
   */
  readonly beyond: number | undefined
}

/** Hosts of a workspace's own on which its links are counted. */
export type HostCounts = {
  readonly workspaceId: string
  readonly hosts: readonly string[]
  /** Ends the count when it aborts: its client has gone. */
  readonly signal?: AbortSignal | undefined
}

/** The names of the conditions, besides the workspace. */
const CONDITIONS = [
  'search',
  'shortLink',
  'hosts',
  'key',
  'externalId',
  'createdFrom',
  'createdTo',
  'tags',
  'managedBy',
  'url',
  'states',
  'does',
] as const satisfies readonly (keyof LinkFilter)[]

/** Whether the filter is an address on one or more hosts, at which a unique index has at most one link of each keyspace. */
export function hasAddress({ hosts, key }: LinkFilter): boolean {
  return hosts !== undefined && key !== undefined
}

/**
 * Whether a list may read many rows. It does not for one address, and not in the order of creation without conditions, or
 * with that of not being archived: for these there are indexes.
 */
export function needsScan(filter: LinkFilter, field: LinkSortField = 'created_at'): boolean {
  if (hasAddress(filter)) return false
  if (filter.archived === true) return true
  return field !== 'created_at' || CONDITIONS.some((name) => filter[name] !== undefined)
}

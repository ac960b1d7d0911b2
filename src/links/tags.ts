import { type Actor, enforceQuotas, type QuotaBook, type QuotaStores } from '../identity/index.ts'
import { Failure } from '../platform/failure.ts'
import type { Page } from '../platform/http/api/pagination.ts'
import type { Clock } from '../platform/time/clock.ts'
import { yieldToEventLoop } from '../platform/work/async.ts'
import type { FairQueue, FairQueueOptions } from '../platform/work/fair-queue.ts'
import type { EventWriter } from '../storage/event-log.ts'
import { ScanTooLong } from '../storage/scans.ts'
import type { Store } from '../storage/store.ts'
import { foldKey } from './key.ts'
import { linkUpdated, storedBytes, type UncountedLink } from './link.ts'
import type { RetaggedLink, TagCount, TagStore } from './store/tag-store.ts'

/** Links of one transaction: few enough that visitors do not notice it. */
const CHUNK_LINKS = 50
/** No chunk begins after this time, so that the answer comes before clients give up. */
const BUDGET_MS = 5_000

/** One change of tags of a workspace at a time: a second one would meet the same links. */
export const TAG_QUEUE: FairQueueOptions = {
  work: 'changes of tags',
  concurrency: 32,
  concurrencyPerOwner: 1,
  waitingPerOwnerMax: 4,
  waitingMax: 256,
  deadlineMs: 5_000,
}

type TagStores = QuotaStores & { readonly tags: TagStore; readonly events: EventWriter }

type Dependencies = {
  readonly store: Store<TagStores>
  readonly clock: Clock
  readonly quotas: QuotaBook
  /** With `SEARCH_QUEUE`. */
  readonly searches: FairQueue
  /** With `TAG_QUEUE`. */
  readonly changes: FairQueue
  /** Milliseconds since any fixed instant. */
  readonly nowMs?: () => number
}

export type TagQuery = {
  readonly search: string | undefined
  readonly sort: { readonly field: 'name' | 'links'; readonly descending: boolean }
  readonly offset: number
  readonly limit: number
}

/** The operations on tags. A tag is what links carry: it has no row of its own. */
export class Tags {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /**
   * @throws {Failure} `validation_failed` when there are too many tags to count
   * @throws {QueueRefusal} when too many searches are waiting
   */
  async list({ workspaceId }: Actor, query: TagQuery): Promise<Page<TagCount>> {
    const { store, searches } = this.#deps
    const { search, sort, offset, limit } = query
    try {
      const read = () => store.read.tags.count(workspaceId, search)
      const found = (await searches.run(workspaceId, read)).toSorted(
        sort.field === 'links'
          ? (a, b) => a.links - b.links || compareNames(b, a)
          : (a, b) => compareNames(a, b),
      )
      const sorted = sort.descending ? found.reverse() : found
      return { items: sorted.slice(offset, offset + limit), total: found.length }
    } catch (error) {
      if (!(error instanceof ScanTooLong)) throw error
      throw Failure.invalid({ search: [{ code: 'too_slow', reason: 'tags' }] })
    }
  }

  /**
   * Replaces tags on all links that carry one of them, as many as the time of a request permits. What is
   * left to do is which links still carry one: the same request goes on there.
   *
   * @param name undefined to take the tags away
   * @throws {Failure} `validation_failed` where a quota is reached
   * @throws {QueueRefusal} when too many changes of tags are waiting
   */
  replace(
    actor: Actor,
    tags: readonly string[],
    name: string | undefined,
  ): Promise<{ readonly done: boolean; readonly changed: number }> {
    const { changes, nowMs = () => performance.now() } = this.#deps
    return changes.run(actor.workspaceId, async () => {
      const untilMs = nowMs() + BUDGET_MS
      const gone = new Set(tags.filter((tag) => tag !== name))
      let changed = 0
      for (const tag of gone) {
        for (;;) {
          if (nowMs() > untilMs) return { done: false, changed }
          await yieldToEventLoop()
          const links = await this.#replaceSome(actor, tag, { gone, name })
          changed += links
          if (links < CHUNK_LINKS) break
        }
      }
      return { done: true, changed }
    })
  }

  /** Returns how many links it has changed. */
  async #replaceSome(
    actor: Actor,
    tag: string,
    to: { readonly gone: ReadonlySet<string>; readonly name: string | undefined },
  ): Promise<number> {
    const { store, clock, quotas } = this.#deps
    const { workspaceId } = actor
    const limits = await quotas.limitsOf(workspaceId)
    return store.write(async (stores) => {
      const found = await stores.tags.findLinks(workspaceId, tag, CHUNK_LINKS)
      const now = clock.nowMicros()
      const links = found.map((before): RetaggedLink => {
        const tags = retagged(before, to)
        return {
          before,
          after: { ...before, tags, updated_at: Math.max(now, before.updated_at + 1) },
        }
      })
      const growth = links.reduce(
        (sum, { before, after }) => sum + storedBytes(after) - storedBytes(before),
        0,
      )
      await enforceQuotas(stores, limits, { storage_bytes: growth })
      await stores.tags.retag(links)
      for (const { before, after } of links) {
        await stores.events.append(actor, linkUpdated(before, after), after.updated_at)
      }
      return links.length
    })
  }
}

function retagged(
  { tags }: UncountedLink,
  { gone, name }: { readonly gone: ReadonlySet<string>; readonly name: string | undefined },
): readonly string[] {
  return [...new Set(tags.flatMap((tag) => (gone.has(tag) ? (name ?? []) : tag)))]
}

function compareNames({ tag: a }: TagCount, { tag: b }: TagCount): number {
  const [left, right] = [foldKey(a), foldKey(b)]
  if (left !== right) return left < right ? -1 : 1
  return a < b ? -1 : a > b ? 1 : 0
}

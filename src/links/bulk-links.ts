import type { Domain, Domains } from '../domains/index.ts'
import type { Actor } from '../identity/index.ts'
import type { Random } from '../platform/crypto/random.ts'
import { Failure, isUnavailable } from '../platform/failure.ts'
import type { IdempotentRequest } from '../platform/http/api/idempotency.ts'
import type { Clock } from '../platform/time/clock.ts'
import { yieldToEventLoop } from '../platform/work/async.ts'
import { QueueRefusal } from '../platform/work/fair-queue.ts'
import { runIdempotent } from '../storage/idempotency.ts'
import { StaleRow, type Store } from '../storage/store.ts'
import {
  type BulkItem,
  BulkWriter,
  type ItemResult,
  type PreparedItem,
  type UpdateOptions,
} from './bulk-writer.ts'
import { keyFaultOf } from './link-keys.ts'
import type { LinkStores } from './link-stores.ts'
import type { LinkWriter } from './link-writer.ts'

/** Items of one transaction: few enough that visitors do not notice it. */
const CHUNK_ITEMS = 25
/** No chunk begins after this time, so that the answer comes before clients give up. */
const BUDGET_MS = 10_000

type Dependencies = {
  readonly store: Store<LinkStores>
  readonly clock: Clock
  readonly random: Random
  readonly domains: Pick<Domains, 'prove'>
  readonly writer: LinkWriter
  /** Milliseconds since any fixed instant. */
  readonly nowMs?: () => number
}

type Chunk = { readonly number: number; readonly items: readonly BulkItem[] }

/** Creates, updates and deletes many links, each for itself. */
export class BulkLinks {
  readonly #deps: Dependencies
  readonly #writer: BulkWriter

  constructor(deps: Dependencies) {
    this.#deps = deps
    this.#writer = new BulkWriter(deps.writer, deps.random)
  }

  /**
   * Does the items in their order, one transaction for a chunk of them, and returns the result of each;
   * of the first ones only, when the time is over or the database fails after some. An item that fails
   * leaves nothing behind. With a repeated request, chunks that are done return their results again.
   *
   * @throws {Failure} `idempotency_conflict`, `unavailable` before anything was done
   */
  async run(
    actor: Actor,
    items: Iterable<BulkItem>,
    request: IdempotentRequest | undefined,
    options: UpdateOptions = {},
  ): Promise<readonly ItemResult[]> {
    const { nowMs = () => performance.now() } = this.#deps
    const untilMs = nowMs() + BUDGET_MS
    const results: ItemResult[] = []
    for (const chunk of chunksOf(items)) {
      if (nowMs() > untilMs) break
      await yieldToEventLoop()
      try {
        results.push(...(await this.#runChunk(actor, chunk, request, options)))
      } catch (error) {
        const mayContinueLater = isUnavailable(error) || error instanceof QueueRefusal
        if (results.length === 0 || !mayContinueLater) throw error
        break
      }
    }
    return results
  }

  async #runChunk(
    actor: Actor,
    { number, items }: Chunk,
    request: IdempotentRequest | undefined,
    options: UpdateOptions,
  ): Promise<readonly ItemResult[]> {
    const { domains } = this.#deps
    const prepared: PreparedItem[] = []
    for (const item of items) prepared.push(await this.#writer.prepare(actor, item, options))
    let claimed: Domain[] = []
    // Each run of the transaction that throws for an item adds it here: at most one run for each.
    const refused = new Map<PreparedItem, Failure>()
    for (;;) {
      const refusable = { item: undefined as PreparedItem | undefined }
      try {
        const results = await this.#write(actor, requestOf(request, number), async (stores) => {
          claimed = []
          const done: ItemResult[] = []
          for (const item of prepared) {
            refusable.item = undefined
            const failure = refused.get(item)
            done.push(
              failure === undefined
                ? await this.#writer.write(stores, actor, item, {
                    onWrite: () => {
                      refusable.item = item
                    },
                    onClaim: (domain) => claimed.push(domain),
                  })
                : this.#writer.failed(item, failure),
            )
          }
          refusable.item = undefined
          return done
        })
        for (const domain of claimed) await domains.prove(domain)
        return results
      } catch (error) {
        if (!(error instanceof Failure) || isUnavailable(error)) throw error
        if (refusable.item === undefined) throw error
        refused.set(refusable.item, error)
      }
    }
  }

  #write(
    { workspaceId }: Actor,
    request: IdempotentRequest | undefined,
    work: (stores: LinkStores) => Promise<readonly ItemResult[]>,
  ): Promise<readonly ItemResult[]> {
    const { store, clock } = this.#deps
    return store.write(async (stores) => {
      try {
        return await runIdempotent(stores, workspaceId, request, clock.nowMicros(), {
          read: async () => {},
          write: () => work(stores),
        })
      } catch (error) {
        // The key was free when this transaction looked, so another one was faster: look again.
        throw keyFaultOf(error) === error ? error : new StaleRow()
      }
    })
  }
}

/** Each chunk has a record of its own. No client can send a key with a blank. */
function requestOf(
  request: IdempotentRequest | undefined,
  chunk: number,
): IdempotentRequest | undefined {
  if (request === undefined || chunk === 0) return request
  return { ...request, key: `${request.key} ${chunk}` }
}

function* chunksOf(items: Iterable<BulkItem>): Generator<Chunk> {
  let chunk: BulkItem[] = []
  let number = 0
  for (const item of items) {
    chunk.push(item)
    if (chunk.length < CHUNK_ITEMS) continue
    yield { number, items: chunk }
    number += 1
    chunk = []
  }
  if (chunk.length > 0) yield { number, items: chunk }
}

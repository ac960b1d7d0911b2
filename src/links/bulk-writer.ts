import type { Problem } from '@terse/contract/errors'
import type { Domain } from '../domains/index.ts'
import type { Actor } from '../identity/index.ts'
import type { Random } from '../platform/crypto/random.ts'
import type { NewEvent } from '../platform/events/event-writer.ts'
import { Failure } from '../platform/failure.ts'
import { problemOf } from '../platform/http/api/problem.ts'
import type { BulkItem } from './bulk-item.ts'
import { keyTaken } from './generated-key.ts'
import { foldKey, generateKey, KEY_VARIANTS_MAX } from './key.ts'
import { tooManyVariants } from './key-fault.ts'
import type { UncountedLink } from './link.ts'
import type { LinkStores } from './link-stores.ts'
import type { LinkWriter, LookedUpdate, PreparedCreate, PreparedUpdate } from './link-writer.ts'
import { shortLink } from './short-link.ts'

/** What became of one item. Stored with the request's `Idempotency-Key`. */
export type ItemResult = {
  readonly status: 'succeeded' | 'failed'
  readonly id: string | null
  readonly link: string | null
  /** The fields that an update changed, as they were, under the names of the API; never the password. */
  readonly before?: NewEvent['before']
  readonly error: Problem | null
}

export type PreparedItem =
  | { readonly kind: 'create'; readonly id: null; readonly create: PreparedCreate }
  | { readonly kind: 'update'; readonly id: string; readonly update: PreparedUpdate }
  | { readonly kind: 'delete'; readonly id: string }
  | { readonly kind: 'invalid'; readonly id: string | null; readonly failure: Failure }

type Listeners = {
  /** Called before the item's first write: a failure after it must roll the transaction back. */
  readonly onWrite: () => void
  readonly onClaim: (domain: Domain) => void
}

/** Writes single items of a bulk request, several of them in one transaction. */
export class BulkWriter {
  readonly #writer: LinkWriter
  readonly #random: Random

  constructor(writer: LinkWriter, random: Random) {
    this.#writer = writer
    this.#random = random
  }

  /** Does what must be done before the transaction. */
  async prepare(actor: Actor, item: BulkItem): Promise<PreparedItem> {
    const id = item.kind === 'create' ? null : item.id
    try {
      if (item.kind === 'create') {
        const create = await this.#writer.prepareCreate(actor, item.input)
        return { kind: 'create', id: null, create }
      }
      if (item.kind === 'update') {
        const { tags } = item
        // Not retried: one of 27.5 billion is taken as good as never.
        const key = item.input.key === null ? generateKey(this.#random) : item.input.key
        const input = { ...item.input, key }
        const update = await this.#writer.prepareUpdate(actor, item.id, input, { tags })
        return { kind: 'update', id: item.id, update }
      }
      return item
    } catch (error) {
      return { kind: 'invalid', id, failure: asFailure(error) }
    }
  }

  /**
   * Writes an item, or returns why it cannot be written.
   *
   * @throws {Failure} after `on.onWrite`
   */
  async write(
    stores: LinkStores,
    actor: Actor,
    item: PreparedItem,
    on: Listeners,
  ): Promise<ItemResult> {
    let hasWritten = false
    const onWrite = () => {
      hasWritten = true
      on.onWrite()
    }
    try {
      return await this.#write(stores, actor, item, { ...on, onWrite })
    } catch (error) {
      if (hasWritten) throw error
      return this.failed(item, asFailure(error))
    }
  }

  failed({ id }: PreparedItem, failure: Failure): ItemResult {
    return { status: 'failed', id, link: null, error: problemOf(failure) }
  }

  async #write(
    stores: LinkStores,
    actor: Actor,
    item: PreparedItem,
    { onWrite, onClaim }: Listeners,
  ): Promise<ItemResult> {
    if (item.kind === 'invalid') throw item.failure
    if (item.kind === 'delete') return succeeded(await this.#writer.delete(stores, actor, item.id))
    if (item.kind === 'create') {
      const allowed = await this.#writer.lookCreate(stores, actor, item.create)
      if (item.create.key !== undefined)
        await refuseTaken(stores, allowed.keyspaceId, item.create.key)
      onWrite()
      const { link, claimed } = await this.#writer.create(stores, actor, item.create, allowed)
      if (claimed !== undefined) onClaim(claimed)
      return succeeded(link)
    }
    const looked = await this.#writer.lookUpdate(stores, actor, item.update)
    await refuseTakenByUpdate(stores, looked)
    onWrite()
    const { link, claimed, before } = await this.#writer.update(stores, actor, item.update, looked)
    if (claimed !== undefined) onClaim(claimed)
    return { ...succeeded(link), before }
  }
}

function succeeded(link: UncountedLink): ItemResult {
  return { status: 'succeeded', id: link.id, link: shortLink(link), error: null }
}

async function refuseTakenByUpdate(
  stores: LinkStores,
  { current, next, allowed }: LookedUpdate,
): Promise<void> {
  if (allowed === undefined && next.key === current.key) return
  const keyspaceId = allowed === undefined ? current.keyspace_id : allowed.keyspaceId
  const isOwnVariant = allowed === undefined && foldKey(next.key) === foldKey(current.key)
  await refuseTaken(stores, keyspaceId, next.key, KEY_VARIANTS_MAX + (isOwnVariant ? 1 : 0))
}

/** Before anything is written: in a transaction, a violated constraint would fail the other items too. */
async function refuseTaken(
  stores: LinkStores,
  keyspaceId: number | undefined,
  key: string,
  variantsMax = KEY_VARIANTS_MAX,
): Promise<void> {
  if (keyspaceId === undefined) return
  const state = await stores.links.findKeyState(keyspaceId, key, variantsMax)
  if (state === 'taken') throw keyTaken()
  if (state === 'too_many_variants') throw tooManyVariants()
}

/** @throws what is no fault of the item */
function asFailure(error: unknown): Failure {
  if (error instanceof Failure && error.code !== 'unavailable') return error
  throw error
}

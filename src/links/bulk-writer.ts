import {
  type BulkLinksEnvelope,
  bulkLinkCreate,
  bulkLinksBody,
  bulkLinksEnvelope,
  bulkLinkUpdate,
} from '@terse/contract/bulk-links'
import type { Problem } from '@terse/contract/errors'
import type { FastifySchemaCompiler } from 'fastify'
import type { z } from 'zod'
import type { Domain } from '../domains/index.ts'
import type { Actor } from '../identity/index.ts'
import type { Random } from '../platform/crypto/random.ts'
import { Failure, type FieldFaults } from '../platform/failure.ts'
import { problemOf } from '../platform/http/api/problem.ts'
import { validate, validateWith } from '../platform/http/api/validation.ts'
import type { NewEvent } from '../storage/event-log.ts'
import { foldKey, generateKey, KEY_VARIANTS_MAX, keyTaken } from './key.ts'
import { shortLink, type UncountedLink } from './link.ts'
import type { EditedTags, LinkInput } from './link-input.ts'
import { tooManyVariants } from './link-keys.ts'
import type { LinkStores } from './link-stores.ts'
import type { CheckedUpdate, LinkWriter, PreparedCreate, PreparedUpdate } from './link-writer.ts'

/** What to do with one link of a bulk request. */
export type BulkItem =
  | { readonly kind: 'create'; readonly input: LinkInput }
  | {
      readonly kind: 'update'
      readonly id: string
      readonly input: LinkInput
      readonly tags: EditedTags | undefined
    }
  | { readonly kind: 'delete'; readonly id: string }
  | { readonly kind: 'invalid'; readonly id: string | null; readonly failure: Failure }

type FaultsOf = (input: LinkInput) => FieldFaults

type TagEdit = {
  add_tags?: readonly string[] | undefined
  remove_tags?: readonly string[] | undefined
}

/** Validates what a request has besides its items, which have results of their own. */
export const validateEnvelope: FastifySchemaCompiler<z.ZodType> = (route) =>
  validate(route.schema === bulkLinksBody ? { ...route, schema: bulkLinksEnvelope } : route)

/**
 * The items of a request, each validated when it is its turn.
 *
 * @throws {Failure} `validation_failed` when the request lacks or mixes what its action needs
 */
export function bulkItems(body: BulkLinksEnvelope, faultsOf: FaultsOf): Iterable<BulkItem> {
  const { action, links, ids, changes } = body
  const sent = { links, ids, changes }
  if (action === 'create') return createsOf(only(sent, 'links').links ?? [], faultsOf)
  if (action === 'delete') return deletesOf(only(sent, 'ids').ids ?? [])
  if (links !== undefined) return updatesOf(only(sent, 'links').links ?? [], faultsOf)
  only(sent, 'ids', 'changes')
  const faults = Object.entries(faultsOf(changes ?? {}))
  if (faults.length > 0) {
    throw Failure.invalid(
      Object.fromEntries(faults.map(([field, texts]) => [`changes.${field}`, texts])),
    )
  }
  return sameUpdatesOf(ids ?? [], changes ?? {})
}

export function countItems({ links, ids }: BulkLinksEnvelope): number {
  return (links ?? ids ?? []).length
}

/** @throws {Failure} `validation_failed` unless exactly these fields were sent */
function only<T extends Partial<Record<string, unknown>>>(
  sent: T,
  ...needed: readonly (keyof T & string)[]
): T {
  const faults = Object.entries(sent).flatMap(([field, value]) => {
    if ((value !== undefined) === needed.includes(field)) return []
    return [[field, [{ code: value === undefined ? 'required' : 'unexpected' } as const]]]
  })
  if (faults.length > 0) throw Failure.invalid(Object.fromEntries(faults))
  return sent
}

function* createsOf(links: readonly unknown[], faultsOf: FaultsOf): Generator<BulkItem> {
  const check = checkOf<LinkInput>(bulkLinkCreate, faultsOf)
  for (const link of links) {
    const input = check(link)
    yield input instanceof Failure
      ? { kind: 'invalid', id: null, failure: input }
      : { kind: 'create', input }
  }
}

function* updatesOf(links: readonly unknown[], faultsOf: FaultsOf): Generator<BulkItem> {
  const check = checkOf<z.output<typeof bulkLinkUpdate>>(bulkLinkUpdate, faultsOf)
  for (const link of links) {
    const update = check(link)
    if (update instanceof Failure) {
      const id = Object(link).id
      yield { kind: 'invalid', id: typeof id === 'string' ? id : null, failure: update }
    } else {
      yield { kind: 'update', id: update.id, input: update, tags: tagsOf(update) }
    }
  }
}

function* sameUpdatesOf(ids: readonly string[], changes: LinkInput & TagEdit): Generator<BulkItem> {
  const tags = tagsOf(changes)
  for (const id of ids) yield { kind: 'update', id, input: changes, tags }
}

function* deletesOf(ids: readonly string[]): Generator<BulkItem> {
  for (const id of ids) yield { kind: 'delete', id }
}

function tagsOf({ add_tags, remove_tags }: TagEdit): EditedTags | undefined {
  if (add_tags === undefined && remove_tags === undefined) return undefined
  return { add: add_tags ?? [], remove: remove_tags ?? [] }
}

function checkOf<T>(schema: z.ZodType<T>, faultsOf: FaultsOf): (item: unknown) => T | Failure {
  const check = validateWith(faultsOf)({ schema, httpPart: 'body', method: 'POST', url: '' })
  return (item) => {
    const result = check(item)
    if (typeof result !== 'object' || result === null) throw new Error('validation has no result')
    if ('error' in result && result.error instanceof Failure) return result.error
    if ('value' in result) return result.value
    throw new Error('validation returned neither a value nor a failure')
  }
}

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

/** How a bulk request updates its links. */
export type UpdateOptions = {
  /** Whether results of the links' examples may change. */
  readonly acceptsChanges?: boolean
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
  async prepare(actor: Actor, item: BulkItem, options: UpdateOptions): Promise<PreparedItem> {
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
        const update = await this.#writer.prepareUpdate(actor, item.id, input, { tags, ...options })
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
      const allowed = await this.#writer.checkCreate(stores, actor, item.create)
      if (item.create.key !== undefined)
        await refuseTaken(stores, allowed.keyspaceId, item.create.key)
      onWrite()
      const { link, claimed } = await this.#writer.create(stores, actor, item.create, allowed)
      if (claimed !== undefined) onClaim(claimed)
      return succeeded(link)
    }
    const checked = await this.#writer.checkUpdate(stores, actor, item.update)
    await refuseTakenByUpdate(stores, checked)
    onWrite()
    const { link, claimed, before } = await this.#writer.update(stores, actor, item.update, checked)
    if (claimed !== undefined) onClaim(claimed)
    return { ...succeeded(link), before }
  }
}

function succeeded(link: UncountedLink): ItemResult {
  return { status: 'succeeded', id: link.id, link: shortLink(link), error: null }
}

async function refuseTakenByUpdate(
  stores: LinkStores,
  { current, next, allowed }: CheckedUpdate,
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

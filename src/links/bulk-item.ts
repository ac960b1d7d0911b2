import {
  type BulkLinksEnvelope,
  bulkLinksBody,
  bulkLinksEnvelope,
  bulkLinkUpdate,
} from '@terse/contract/bulk-links'
import { createLinkBody } from '@terse/contract/links'
import type { FastifySchemaCompiler } from 'fastify'
import type { z } from 'zod'
import { Failure, type FieldFaults } from '../platform/failure.ts'
import { validate, validateWith } from '../platform/http/api/validation.ts'
import type { LinkInput } from './link-input.ts'
import type { EditedTags } from './tag-edit.ts'

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
  const check = checkOf<LinkInput>(createLinkBody, faultsOf)
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

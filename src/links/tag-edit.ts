import { Failure } from '../platform/failure.ts'
import { TAGS_MAX } from './link-input.ts'

/** Tags to add to those of a link, and to take from them. */
export type EditedTags = { readonly add: readonly string[]; readonly remove: readonly string[] }

/**
 * The tags in their order, without those removed, then those added.
 *
 * @throws {Failure} `validation_failed` for more than a link may have
 */
export function editTags(tags: readonly string[], { add, remove }: EditedTags): readonly string[] {
  const gone = new Set(remove)
  const edited = [...new Set([...tags.filter((tag) => !gone.has(tag)), ...add])]
  if (edited.length > TAGS_MAX) {
    throw Failure.invalid({ add_tags: [{ code: 'too_many_tags', max: TAGS_MAX }] })
  }
  return edited
}

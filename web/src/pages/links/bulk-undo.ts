import type { BulkChanges, BulkResult, LinkUpdate } from '../../api/bulk-links.ts'

/** What gives changed links back the values that they had; links that did not change are left out. */
export function undoOf(changes: BulkChanges, results: readonly BulkResult[]): LinkUpdate[] {
  const updates: LinkUpdate[] = []
  for (const { id, before } of results) {
    if (id === null || before === null || Object.keys(before).length === 0) continue
    const { tags, ...values } = before
    const edits = Array.isArray(tags) ? tagsBack(changes, tags) : {}
    updates.push({ id, ...values, ...edits })
  }
  return updates
}

/** Only the tags that the change gave or took: others may have been edited since. */
function tagsBack(
  { add_tags: added = [], remove_tags: removed = [] }: BulkChanges,
  before: readonly string[],
): Pick<BulkChanges, 'add_tags' | 'remove_tags'> {
  return {
    add_tags: removed.filter((tag) => before.includes(tag) && !added.includes(tag)),
    remove_tags: added.filter((tag) => !before.includes(tag)),
  }
}

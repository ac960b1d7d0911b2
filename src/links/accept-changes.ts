import { problemSchema } from '@terse/contract/errors'
import type { AcceptChangesQuery } from '@terse/contract/explain'

/** The answer of requests that take `acceptChangesQuery`. */
export const EXAMPLES_CHANGED = {
  409: problemSchema.describe(
    'Results of examples of the link would change: `details` has their names, with the results before and after.',
  ),
}

/** Reads `acceptChangesQuery`. */
export function acceptanceOf({ accept_changes }: AcceptChangesQuery): {
  readonly acceptsChanges: boolean
} {
  return { acceptsChanges: accept_changes === 'true' }
}

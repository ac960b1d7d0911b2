import { z } from 'zod'
import { asMessage } from './faults.ts'
import { timestamp } from './primitives.ts'

const SET_NAME = /^[a-z0-9][a-z0-9-]{0,62}$/

/** The name of a set: what one file of links as code describes. */
export const setName = z.string().regex(SET_NAME, asMessage({ code: 'invalid_set_name' }))

/** The mark of a set, in requests. */
export const managedByInput = setName
  .nullable()
  .optional()
  .describe(
    'The name of the set of links as code that manages this: 1 to 63 lower-case letters, digits and hyphens, the first no hyphen. Null for none. Unchanged when left out.',
  )

/** The mark of a set, in answers. */
export const managedFields = {
  managed_by: z
    .string()
    .nullable()
    .describe('The name of the set of links as code that manages this; null for none.'),
  managed_at: timestamp
    .nullable()
    .describe(
      'When this was last written by a request that named `managed_by`; null without a set. An `updated_at` that is later says that something else has changed it since.',
    ),
}

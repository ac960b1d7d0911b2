import { z } from 'zod'
import { faultSchema } from './errors.ts'
import { line } from './primitives.ts'

/** Longer than any valid key, so that the answer to a long key has a reason instead of 422. */
const KEY_TEXT_MAX = 2_000
const REASONS = ['taken', 'reserved', 'invalid', 'too_many_variants'] as const

export const keyAvailabilityQuery = z.strictObject({
  domain: line(2000).describe('The host name of the planned link.'),
  key: z
    .string()
    .max(KEY_TEXT_MAX)
    .optional()
    .describe('The key to check; without it, only a suggestion is returned.'),
})

export const keyAvailability = z
  .object({
    domain: z.string().describe('The domain in its stored form.'),
    key: z.string().nullable().describe('The key in its stored form; null when none was sent.'),
    available: z
      .boolean()
      .nullable()
      .describe('Whether a link could have this key now; null when none was sent.'),
    reason: z
      .enum(REASONS)
      .nullable()
      .describe(
        'Why not: `taken` by another link; `reserved` for the service itself; `invalid` as a key; `too_many_variants`: too many keys differ from it only by letter case. Null if the key is available or none was sent.',
      ),
    message: z
      .string()
      .nullable()
      .describe('The message with which a create would refuse the key.'),
    fault: faultSchema.nullable().describe('The fault with which a create would refuse the key.'),
    suggestion: z.string().describe('A generated key that is free now.'),
  })
  .meta({ id: 'KeyAvailability', description: 'Whether a key is free on a domain.' })

export type KeyAvailabilityResource = z.output<typeof keyAvailability>

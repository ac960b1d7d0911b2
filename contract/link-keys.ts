import { z } from 'zod'
import { line } from './primitives.ts'

/** Longer than any valid key, so that a long one gets its reason rather than 422. */
const KEY_TEXT_MAX = 2_000
const REASONS = ['taken', 'reserved', 'invalid', 'too_many_variants'] as const

export const keyAvailabilityQuery = z.strictObject({
  domain: line(2000).describe('The host name that the link is to be on.'),
  key: z
    .string()
    .max(KEY_TEXT_MAX, `must have at most ${KEY_TEXT_MAX} characters`)
    .optional()
    .describe('The key to look for; without it, the answer is only a suggestion.'),
})

export const keyAvailability = z
  .object({
    domain: z.string().describe('The domain, in the form in which it is stored.'),
    key: z
      .string()
      .nullable()
      .describe('The key, in the form in which it is stored; null when none was sent.'),
    available: z
      .boolean()
      .nullable()
      .describe('Whether a link could have this key now; null when none was sent.'),
    reason: z
      .enum(REASONS)
      .nullable()
      .describe(
        'Why it could not: another link has it; the service answers it itself; it is no valid key; or too many keys differ from it only by letter case.',
      ),
    message: z.string().nullable().describe('The reason in words, as a create would answer.'),
    suggestion: z.string().describe('A generated key that is free now.'),
  })
  .meta({ id: 'KeyAvailability', description: 'Whether a key is free on a domain.' })

export type KeyAvailabilityResource = z.output<typeof keyAvailability>

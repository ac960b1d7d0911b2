import { z } from 'zod'
import { periodQuery } from './clicks.ts'
import { countedUntil, timestamp, uuid } from './primitives.ts'

/** What can be said of a split. */
const SPLIT_VERDICTS = ['too_few', 'ended', 'as_weighted', 'weights_disagree'] as const
/** What can be said of a variant beside the first. */
const VARIANT_VERDICTS = ['base', 'paused', 'too_few', 'no_difference', 'more', 'fewer'] as const

export type SplitVerdict = (typeof SPLIT_VERDICTS)[number]
export type VariantVerdict = (typeof VARIANT_VERDICTS)[number]

export const compareVariantsQuery = z.strictObject(periodQuery)

const bounds = z
  .object({ low: z.number(), high: z.number() })
  .nullable()
  .describe(
    'How many more visitors the variant has than the first one, for their weights, in percent: the true value is between `low` and `high` in 95 % of cases, all variants of the split together. Null where nothing can be said.',
  )

const comparedVariant = z.object({
  name: z.string().describe('Name of the variant.'),
  weight: z.int().describe('Its weight now.'),
  visitors: z.int().describe('People who got it, each once a UTC day.'),
  share: z
    .number()
    .nullable()
    .describe('Its part of the visitors of the split, from 0 to 1; null without any.'),
  expected_share: z.number().describe('What its weight would be, from 0 to 1.'),
  more: bounds,
  conversions: z
    .int()
    .nullable()
    .describe(
      'Its visits that led to a conversion in the period, each counted once; null without the scope `conversions:read`.',
    ),
  rate: z
    .object({ value: z.number(), low: z.number(), high: z.number() })
    .nullable()
    .describe(
      'Conversions of 100 visitors: what was counted, and between which bounds the true value is in 95 % of cases. Null with under 100 visitors or 5 conversions.',
    ),
  verdict: z
    .enum(VARIANT_VERDICTS)
    .describe(
      '`base` is the first variant with a weight. `paused` has the weight 0. `too_few`: under 100 visitors, its own or those of the base. `no_difference`: the interval contains 0.',
    ),
  text: z.string().describe('The same in words.'),
})

const comparedSplit = z.object({
  rule: z.string().describe('Id of the rule.'),
  name: z.string().nullable().describe('Name of the rule.'),
  rule_set: uuid
    .nullable()
    .describe('Id of the rule set that has it; null for a rule of the link.'),
  visitors: z.int().describe('Visitors of all its variants.'),
  probability: z
    .number()
    .nullable()
    .describe(
      'How probable shares so far from the weights are by chance (chi-square); null where it was not tested.',
    ),
  verdict: z
    .enum(SPLIT_VERDICTS)
    .describe(
      '`too_few`: a variant has under 100 visitors. `ended`: the split has ended in favour of a variant within the period. `weights_disagree`: a probability below 0.001; the weights were changed in the period, cookies keep variants from before, or something treats variants differently.',
    ),
  text: z.string().describe('The same in words.'),
  variants: z.array(comparedVariant),
})

export const variantComparison = z
  .object({
    from: timestamp.describe('Start of the period.'),
    to: timestamp.describe('End of the period, exclusive.'),
    counted_until: countedUntil,
    data: z
      .array(comparedSplit)
      .describe(
        'The rules that split visitors: those of the link, then those of its rule set and of that of its domain.',
      ),
  })
  .meta({ id: 'VariantComparison', description: 'The variants of a link compared.' })

export type VariantComparisonResource = z.output<typeof variantComparison>

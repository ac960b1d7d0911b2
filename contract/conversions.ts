import { z } from 'zod'
import { parameterInput } from './labels.ts'
import { integer } from './primitives.ts'

const WINDOW_DAYS_MAX = 400

const settings = {
  track_conversions: z
    .boolean()
    .describe(
      'Whether destinations get a token where neither the link nor its domain says. `false` in a new workspace.',
    ),
  parameter: z
    .string()
    .describe(
      'The parameter of destinations that has the token: with `tc`, visitors arrive at `https://shop.example.com/?tc=…`.',
    ),
  window_days: z
    .int()
    .describe('For how many days after the visit its token is accepted; 30 in a new workspace.'),
}

export const conversionSettingsSchema = z.object(settings).meta({
  id: 'ConversionSettings',
  description: 'How conversions of the workspace are counted.',
})

export const conversionSettingsBody = z
  .strictObject({
    track_conversions: z.boolean().describe(settings.track_conversions.description ?? ''),
    parameter: parameterInput
      .optional()
      .describe(
        'A letter, then at most 31 letters, digits, `_` and `-`; letter case matters. Not `qr`, and not a UTM parameter. Left out, it stays.',
      ),
    window_days: integer(WINDOW_DAYS_MAX, 1)
      .optional()
      .describe(
        `From 1 to ${WINDOW_DAYS_MAX} days, for tokens of earlier visits too. Left out, it stays.`,
      ),
  })
  .meta({
    id: 'WriteConversionSettings',
    description: 'How conversions of the workspace are counted.',
    examples: [{ track_conversions: true, parameter: 'tc', window_days: 30 }],
  })

export type ConversionSettingsResource = z.output<typeof conversionSettingsSchema>

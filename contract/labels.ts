import { z } from 'zod'
import { asMessage } from './faults.ts'
import { line } from './primitives.ts'

const LABELS_MAX = 1_000
/** As in the redirect, which cuts longer ones. */
const LABEL_LENGTH_MAX = 80
/** Unreserved characters of URLs: no program encodes them. */
const PARAMETER = /^[A-Za-z][A-Za-z0-9_-]{0,31}$/
/** The mark of tracked QR codes, and what analytics programs of destinations read. */
const TAKEN = /^(?:qr|utm_.*)$/i

const labels = z.array(z.string())

/** The name of a query parameter that Terse reads or sets. */
export const parameterInput = z
  .string()
  .regex(PARAMETER, asMessage({ code: 'invalid_parameter', reason: 'characters' }))
  .refine((name) => !TAKEN.test(name), asMessage({ code: 'invalid_parameter', reason: 'taken' }))

export const labelsSchema = z
  .object({
    parameter: z
      .string()
      .nullable()
      .describe(
        'The parameter of short links that has the label: with `via`, a visit to `https://go.example.org/sale?via=newsletter` has the label `newsletter`. Null while labels are off.',
      ),
    labels: labels.describe('Labels that are always counted by themselves.'),
  })
  .meta({ id: 'Labels', description: 'How visits to the links of the workspace get labels.' })

export const labelsBody = z
  .strictObject({
    parameter: parameterInput
      .nullable()
      .describe(
        'A letter, then at most 31 letters, digits, `_` and `-`; letter case matters. Not `qr`, and not a UTM parameter. Null switches labels off: what visitors send goes on to the destination.',
      ),
    labels: z
      .array(line(LABEL_LENGTH_MAX).trim().min(1))
      .max(LABELS_MAX)
      .optional()
      .describe(
        'Labels that are always counted by themselves; duplicates are dropped. Others are too, up to 1,000 different ones; beyond that they are counted as `(other)`. Left out, the list stays.',
      ),
  })
  .meta({
    id: 'WriteLabels',
    description: 'How visits to the links of the workspace get labels.',
    examples: [{ parameter: 'via', labels: ['newsletter', 'podcast'] }, { parameter: null }],
  })

export type LabelsResource = z.output<typeof labelsSchema>

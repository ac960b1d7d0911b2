import { z } from 'zod'
import { eventSchema } from './events.ts'
import { asMessage } from './faults.ts'
import { LOGGED_LINK_FIELDS } from './link-fields.ts'
import { cursorText, perPageQuery, uncountedPageOf } from './pagination.ts'

const linkChangeSchema = eventSchema
  .pick({ sequence: true, at: true, actor: true, before: true, after: true })
  .extend({ type: z.enum(['link.created', 'link.updated']).describe('What happened.') })
  .meta({ id: 'LinkChange', description: 'A change of a link.' })

export const linkHistoryPage = uncountedPageOf(linkChangeSchema, 'LinkHistoryPage')

export const linkHistoryQuery = z.strictObject({
  per_page: perPageQuery,
  cursor: cursorText
    .optional()
    .describe(
      'The `meta.next_cursor` of the previous response; empty or left out for the first page. Changes that are newer than the first page are not returned.',
    ),
})

const sequence = z.int().min(1).max(Number.MAX_SAFE_INTEGER)

export const revertLinkBody = z
  .strictObject({
    sequence: sequence
      .optional()
      .describe(
        'Undoes this change: the fields that it changed get the values that they had before.',
      ),
    to: sequence
      .optional()
      .describe(
        'Returns the link to its state after this change: what later changes have changed is set back.',
      ),
    fields: z
      .array(z.enum(LOGGED_LINK_FIELDS))
      .min(1)
      .optional()
      .describe('Sets back only these of the fields; all when left out.'),
  })
  .refine(
    ({ sequence, to }) => (sequence === undefined) !== (to === undefined),
    asMessage({ code: 'exactly_one_of', allowed: ['sequence', 'to'] }),
  )
  .meta({
    id: 'RevertLink',
    description: 'Either `sequence` or `to`: the number of a change in the history of the link.',
    examples: [{ sequence: 1_204 }],
  })

export type LinkChange = z.output<typeof linkChangeSchema>
export type RevertLinkBody = z.output<typeof revertLinkBody>
export type RevertibleField = (typeof LOGGED_LINK_FIELDS)[number]

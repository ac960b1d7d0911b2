import { z } from 'zod'
import { problemSchema } from './errors.ts'
import { createLinkBody, patchLinkBody, tagsInput } from './links.ts'
import { idParams } from './primitives.ts'
import { rulesInput } from './rules.ts'

const BULK_ITEMS_MAX = 1_000

const ACTIONS = ['create', 'update', 'delete'] as const
const STATUSES = ['succeeded', 'failed', 'pending'] as const

const listOf = <T extends z.ZodType>(item: T) => z.array(item).min(1).max(BULK_ITEMS_MAX)

const tagEdits = {
  add_tags: tagsInput.optional().describe('Tags to add to those of the link.'),
  remove_tags: tagsInput.optional().describe('Tags to take from the link; others stay.'),
}

const rules = {
  rules: rulesInput
    .nullable()
    .optional()
    .describe('All its rules; null for none. Unchanged when left out.'),
}

/** A link of a bulk create: with its rules at once, so that it never leads elsewhere. */
export const bulkLinkCreate = createLinkBody.extend(rules)

/** A link of a bulk update. */
export const bulkLinkUpdate = patchLinkBody.extend({ ...idParams.shape, ...tagEdits, ...rules })

const bulkChanges = patchLinkBody
  .omit({ key: true })
  .extend(tagEdits)
  .meta({ id: 'BulkChanges', description: 'What to change of every link.' })

/** Items are validated one by one, so that each has a result of its own. */
export const bulkLinksEnvelope = z.strictObject({
  action: z.enum(ACTIONS),
  links: listOf(z.unknown()).optional(),
  ids: listOf(z.string().toLowerCase()).optional(),
  changes: bulkChanges.optional(),
})

export const bulkLinksBody = bulkLinksEnvelope
  .extend({
    action: bulkLinksEnvelope.shape.action.describe('What to do with each item.'),
    links: listOf(
      patchLinkBody
        .extend({ id: idParams.shape.id.optional(), ...tagEdits, ...rules })
        .meta({ id: 'BulkLink', description: 'A link to create, or to update by its `id`.' }),
    )
      .optional()
      .describe(
        'For `create`: links as in a create. For `update`: each with its `id`. Both may have `rules`.',
      ),
    ids: listOf(idParams.shape.id)
      .optional()
      .describe('For `delete`, or for `update` together with `changes`.'),
    changes: bulkChanges.optional(),
  })
  .meta({
    id: 'BulkLinks',
    description: 'One action on up to 1,000 links.',
    examples: [
      {
        action: 'create',
        links: [{ domain: 'localhost', url: 'https://example.com/', tags: ['spring'] }],
      },
    ],
  })

const bulkResult = z
  .object({
    index: z.int().describe('Place of the item in the request, from 0.'),
    status: z
      .enum(STATUSES)
      .describe('`pending`: not attempted yet, because the time of one request was over.'),
    id: z.string().nullable().describe('The link; null for one that was not created.'),
    link: z.string().nullable().describe('Its short link, where it succeeded.'),
    before: z
      .record(z.string(), z.unknown())
      .nullable()
      .describe(
        'The fields that an update changed, as they were, except the password; null for other actions, and where it failed.',
      ),
    error: problemSchema.nullable().describe('Why it failed.'),
  })
  .meta({ id: 'BulkResult', description: 'What became of one item.' })

export const bulkLinksAnswer = z
  .object({
    action: z.enum(ACTIONS),
    done: z
      .boolean()
      .describe(
        'False when items are pending: send the same request with the same `Idempotency-Key` to go on.',
      ),
    succeeded: z.int(),
    failed: z.int(),
    pending: z.int(),
    results: z.array(bulkResult).describe('One for each item, in their order.'),
  })
  .meta({ id: 'BulkLinksAnswer', description: 'What became of each item.' })

export type BulkLinksEnvelope = z.output<typeof bulkLinksEnvelope>
export type BulkLinksAnswer = z.output<typeof bulkLinksAnswer>
export type BulkResult = z.output<typeof bulkResult>

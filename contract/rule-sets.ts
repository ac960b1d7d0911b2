import { z } from 'zod'
import { managedByInput, managedFields } from './managed.ts'
import { pageOf, pageQuery } from './pagination.ts'
import { fieldsQuery, line, timestamp, uuid } from './primitives.ts'
import { rulesBody, rulesSchema } from './rules.ts'

const NAME_LENGTH_MAX = 100

const name = line(NAME_LENGTH_MAX).describe('Unique in the workspace, whatever its letter case.')

export const ruleSetSchema = z
  .object({
    id: uuid.describe('Identifier of the set, for `rule_set` of a link or of a domain.'),
    workspace_id: uuid.describe('Workspace that owns the set.'),
    name: z.string().describe('Its name, unique in the workspace whatever its letter case.'),
    rules: rulesSchema.shape.rules.describe(
      'In their order: the first that matches decides. Clicks have the id of the rule.',
    ),
    ...managedFields,
    created_at: timestamp.describe('When it was created.'),
    updated_at: timestamp.describe('When it was last changed.'),
  })
  .meta({
    id: 'RuleSet',
    description: 'Rules with a name, which several links and domains use at once.',
  })

const include = fieldsQuery(['used_by']).describe(
  'What each set has beside its own fields: `used_by`, how many links and domains use it.',
)

/** A rule set with what `include` requests beside its fields. */
export const includingRuleSetSchema = ruleSetSchema
  .extend({
    used_by: z
      .object({
        links: z.int().describe('How many links use it beside their own rules.'),
        domains: z.int().describe('How many domains have it as their default.'),
      })
      .optional()
      .describe('Only with `include=used_by`.'),
  })
  .meta({ id: 'IncludingRuleSet', description: 'A rule set, with what `include` requests.' })

export const ruleSetPage = pageOf(includingRuleSetSchema, 'RuleSetPage')

export const listRuleSetsQuery = pageQuery.extend({ include })

export const getRuleSetQuery = z.object({ include })

const EXAMPLE = {
  name: 'Shops by country',
  rules: [{ when: { country: ['DE', 'AT'] }, then: { url: 'https://example.com/de' } }],
}

export const ruleSetBody = z
  .strictObject({ name, rules: rulesBody.shape.rules, managed_by: managedByInput })
  .meta({ id: 'WriteRuleSet', description: 'A rule set.', examples: [EXAMPLE] })

export const createRuleSetBody = ruleSetBody
  .extend({ rules: rulesBody.shape.rules.optional() })
  .meta({
    id: 'CreateRuleSet',
    description: 'A new rule set; without `rules` it has none yet.',
    examples: [EXAMPLE],
  })

export const patchRuleSetBody = ruleSetBody.partial().meta({
  id: 'PatchRuleSet',
  description: 'The fields to change.',
  examples: [{ name: 'Shops' }],
})

export const ruleSetDeleted = z
  .object({ message: z.literal('Rule set deleted') })
  .meta({ id: 'RuleSetDeleted' })

export type RuleSetResource = z.output<typeof ruleSetSchema>
export type IncludingRuleSet = z.output<typeof includingRuleSetSchema>

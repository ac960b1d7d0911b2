import { patchDomainSettingsBody } from '@terse/contract/domain-settings'
import { domainBody } from '@terse/contract/domains'
import { createLinkBody, tagInput } from '@terse/contract/links'
import { setName } from '@terse/contract/managed'
import { line } from '@terse/contract/primitives'
import { ruleSetBody } from '@terse/contract/rule-sets'
import { rulesInput } from '@terse/contract/rules'
import { utmTemplateBody } from '@terse/contract/utm-templates'
import { z } from 'zod'

/** Names of variables as POSIX shells take them. */
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/
const ADDRESS_LENGTH_MAX = 4_000

const ruleSetName = line(100).nullable().optional()

const password = z
  .strictObject({
    env: z.string().regex(VARIABLE).describe('The name of the variable that has the password.'),
  })
  .nullable()
  .optional()
  .describe('What visitors must type, from a variable of the environment: no file has it.')

const apiLink = createLinkBody.shape
const ofService = {
  id: true,
  workspace_id: true,
  link: true,
  clicks: true,
  last_click: true,
  created_at: true,
  updated_at: true,
  managed_by: true,
} as const

export const linkEntry = createLinkBody
  .omit(ofService)
  .extend({
    link: line(ADDRESS_LENGTH_MAX)
      .optional()
      .describe('Its domain and key, such as `go.example.com/spring`.'),
    domain: apiLink.domain.optional(),
    key: line(ADDRESS_LENGTH_MAX).optional().describe('Its key on the domain.'),
    password,
    rule_set: ruleSetName.describe('The name of the rule set that it uses beside its rules.'),
    rules: rulesInput.nullable().optional(),
  })
  .meta({
    id: 'LinkEntry',
    description:
      'A link, by `link`, or by `domain` and `key`. What is left out is as in a new link.',
  })

export const domainEntry = patchDomainSettingsBody
  .omit({ managed_by: true, managed_at: true, updated_at: true })
  .extend({
    domain: domainBody.shape.domain,
    not_found_url: domainBody.shape.not_found_url,
    expired_url: domainBody.shape.expired_url,
    rule_set: ruleSetName.describe('The name of the rule set that all its links use.'),
  })
  .meta({ id: 'DomainEntry', description: 'A domain with its settings.' })

export const ruleSetEntry = ruleSetBody
  .omit({ managed_by: true })
  .meta({ id: 'RuleSetEntry', description: 'Rules with a name, for links and domains.' })

export const templateEntry = utmTemplateBody
  .omit({ managed_by: true })
  .meta({ id: 'UtmTemplateEntry', description: 'UTM values to choose for new links.' })

const listOf = <T extends z.ZodType>(entry: T) => z.array(entry).nullable().optional()

const head = {
  $schema: z.string().optional().describe('For editors; ignored.'),
  version: z.literal(1).describe('The version of the format.'),
  set: setName.describe('The name of the set: what is marked with it belongs to this file.'),
  prevent_delete: z
    .boolean()
    .optional()
    .describe('Whether nothing of the set may be deleted by leaving it out of the file.'),
  tags: listOf(tagInput).describe('If given, links may have these tags alone.'),
}

/** The file as far as it is checked as a whole: entries are checked one by one. */
export const fileEnvelope = z.strictObject({
  ...head,
  domains: listOf(z.unknown()),
  rule_sets: listOf(z.unknown()),
  utm_templates: listOf(z.unknown()),
  links: listOf(z.unknown()),
})

/** Returns the JSON Schema of files, for editors. */
export function linksSchema(): object {
  const file = z
    .strictObject({
      ...head,
      domains: listOf(domainEntry),
      rule_sets: listOf(ruleSetEntry),
      utm_templates: listOf(templateEntry),
      links: listOf(linkEntry),
    })
    .meta({ title: 'Links as code of Terse' })
  return z.toJSONSchema(file, { io: 'input', target: 'draft-2020-12' })
}

export type LinkEntry = z.output<typeof linkEntry>
export type DomainEntry = z.output<typeof domainEntry>

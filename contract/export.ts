import { z } from 'zod'
import { exportedClick } from './clicks.ts'
import { conversionSchema, conversionSettingsSchema, VALUE_MAX } from './conversions.ts'
import { domainSettingsSchema } from './domain-settings.ts'
import { domainSchema } from './domains.ts'
import { examplesSchema } from './explain.ts'
import { labelsSchema } from './labels.ts'
import { optionInputs } from './link-options.ts'
import { linkSchema } from './links.ts'
import { managedFields } from './managed.ts'
import { cursorText } from './pagination.ts'
import { integer, line, timestamp } from './primitives.ts'
import { ROLES } from './roles.ts'
import { ruleSetSchema } from './rule-sets.ts'
import { rulesSchema } from './rules.ts'
import { utmTemplateSchema } from './utm-templates.ts'

const FORMATS = ['ndjson', 'csv-zip'] as const
/** The `version` in the first line of an export. */
export const EXPORT_VERSION = 1

export const exportQuery = z.strictObject({
  format: z
    .enum(FORMATS)
    .optional()
    .describe(
      '`ndjson`, the default: one JSON object a line. `csv-zip`: a zip with a CSV file for each type of record.',
    ),
  clicks: z
    .preprocess(
      (value) => (value === 'true' ? true : value === 'false' ? false : value),
      z.boolean(),
    )
    .optional()
    .describe(
      'Whether to add the single clicks that are still stored; `false` when left out. Clicks of other days are added up by link and day.',
    ),
  cursor: cursorText
    .min(1)
    .optional()
    .describe(
      'The last `cursor` line of an export that broke off, with the same `clicks`: returns what comes after that line. Only for `ndjson`.',
    ),
})

const noOwner = { workspace_id: true } as const

/** The first line. */
const exportHead = z
  .object({
    type: z.literal('export'),
    version: z.literal(EXPORT_VERSION).describe('Of the format.'),
    terse: z.string().describe('The version of the program that wrote it.'),
    instance: z.string().describe('The address of the service.'),
    service_host: z.string().describe('The host that all workspaces of the instance share.'),
    workspace: z.string().describe('The name of the workspace.'),
    clicks: z.boolean().describe('Whether single clicks are included.'),
    exported_at: timestamp,
  })
  .meta({ id: 'ExportHead' })

const exportedLabels = labelsSchema.extend({ type: z.literal('labels') }).meta({
  id: 'ExportedLabels',
  description:
    'How visits get labels. Left out where the workspace has what a new one has, and by exports of version 0.1.',
})

const exportedConversionSettings = conversionSettingsSchema
  .extend({ type: z.literal('conversion_settings') })
  .meta({
    id: 'ExportedConversionSettings',
    description:
      'How conversions are counted. Left out where the workspace has what a new one has, and by exports of version 0.1.',
  })

/** An import is a write of its own, with its own instant. */
const noTime = { managed_at: true } as const
const managed_by = managedFields.managed_by
  .optional()
  .describe(`${managedFields.managed_by.description} Exports of version 0.1 leave it out.`)

const exportedTemplate = utmTemplateSchema
  .omit({ ...noOwner, ...noTime })
  .extend({ type: z.literal('utm_template'), managed_by })
  .meta({ id: 'ExportedUtmTemplate', description: 'A UTM template.' })

const exportedRuleSet = ruleSetSchema
  .omit({ ...noOwner, ...noTime })
  .extend({ type: z.literal('rule_set'), managed_by })
  .meta({
    id: 'ExportedRuleSet',
    description: 'A rule set, before the domains and links that use it.',
  })

const ruleSetName = z.string().nullable().optional()

const exportedDomain = domainSchema
  .omit(noOwner)
  .extend({
    type: z.literal('domain'),
    hsts_max_age: z.int().nullable().describe('Seconds of its HSTS header; null without one.'),
    is_default: z
      .boolean()
      .optional()
      .describe('Whether new links start on it. Exports of version 0.1 leave it out.'),
  })
  .meta({ id: 'ExportedDomain', description: 'A domain.' })

const exportedDomainSettings = domainSettingsSchema
  .omit({ ...noTime, updated_at: true })
  .partial({ track_conversions: true })
  .extend({
    type: z.literal('domain_settings'),
    managed_by,
    rule_set_name: ruleSetName.describe('The name of its rule set; null without one.'),
  })
  .meta({
    id: 'ExportedDomainSettings',
    description:
      'What a domain does besides its links. Domains whose settings were never changed have none.',
  })

const exportedMember = z
  .object({
    type: z.literal('member'),
    email: z.string(),
    name: z.string(),
    role: z.enum(ROLES),
    joined_at: timestamp,
  })
  .meta({ id: 'ExportedMember', description: 'A person in the workspace.' })

const exportedLink = linkSchema
  .omit({ ...noOwner, link: true, password: true })
  .extend({
    type: z.literal('link'),
    clicks: z.int().describe('Clicks by people.'),
    protected: z.boolean().describe('Whether it has a password, which is not exported.'),
    rules: rulesSchema.shape.rules
      .nullable()
      .optional()
      .describe('Its rules; null for none. Exports of version 0.1 leave them out.'),
    examples: examplesSchema.shape.examples
      .nullable()
      .optional()
      .describe('Its examples; null for none. Exports of version 0.1 leave them out.'),
    options: z
      .object(optionInputs)
      .nullable()
      .optional()
      .describe('Its options; null where it has none. Exports of version 0.1 leave them out.'),
    rule_set_name: ruleSetName.describe(
      'The name of the rule set in `options`, by which imports find it; null without one.',
    ),
    imported: z
      .record(z.string(), z.unknown())
      .nullable()
      .describe('What another service knew of it and Terse has no field for; null for nothing.'),
  })
  .meta({ id: 'ExportedLink', description: 'A link.' })

const exportedClickLine = exportedClick
  .omit({ id: true })
  .extend({
    type: z.literal('click'),
    link_id: z.string(),
    rule: exportedClick.shape.rule
      .optional()
      .describe(
        'Id of the rule that matched; null if none did. Exports of version 0.1 leave it out.',
      ),
    variant: exportedClick.shape.variant
      .optional()
      .describe(
        'Name of the variant of a split; null for none. Exports of version 0.1 leave it out.',
      ),
    label: exportedClick.shape.label
      .optional()
      .describe('Label of the visit; null for none. Exports of version 0.1 leave it out.'),
    region: exportedClick.shape.region
      .optional()
      .describe('Region of the visitor; null where unknown. Exports of version 0.1 leave it out.'),
    city: exportedClick.shape.city
      .optional()
      .describe('City of the visitor; null where unknown. Exports of version 0.1 leave it out.'),
  })
  .meta({ id: 'ExportedClickLine', description: 'A single click on one of the links.' })

const exportedClickDay = z
  .object({
    type: z.literal('click_day'),
    link_id: z.string(),
    day: z.iso.date().describe('In UTC.'),
    clicks: z.int().min(0).describe('Clicks by people.'),
    bots: z.int().min(0).describe('All other clicks.'),
    last_click: z
      .int()
      .nullable()
      .describe('That of the link, in seconds since 1970, if it was on this day.'),
  })
  .meta({
    id: 'ExportedClickDay',
    description: 'The clicks of a link on a day whose single clicks are not in the export.',
  })

const exportCursor = z
  .object({ type: z.literal('cursor'), cursor: z.string() })
  .meta({ id: 'ExportCursor', description: 'From where a broken export continues. No data.' })

const VISITS_MAX = 2 ** 48 - 1
/** As values of clicks, at most. */
const visitText = (lengthMax = 253) => line(lengthMax).nullable()

const exportedConversion = conversionSchema
  .omit({ domain: true, key: true })
  .extend({
    type: z.literal('conversion'),
    event: line(80).min(1).describe('What happened.'),
    value: integer(VALUE_MAX, -VALUE_MAX)
      .nullable()
      .describe('In minor units of the currency; negative for a refund.'),
    currency: z
      .string()
      .regex(/^[A-Z]{3}$/)
      .nullable()
      .describe('ISO 4217 code; null without a value.'),
    country: visitText(2).describe(
      'ISO 3166-1 alpha-2 code of the visit; null where it was not known.',
    ),
    rule: visitText().describe('Id of the rule that matched; null if none did.'),
    variant: visitText().describe('Name of the variant that the visitor got; null for none.'),
    label: visitText().describe('Label of the visit; null for none.'),
    visit: z
      .int()
      .min(0)
      .max(VISITS_MAX)
      .describe('Tells the visit from others: several conversions may have come from one.'),
  })
  .meta({
    id: 'ExportedConversion',
    description: 'What a visitor did. Exports of version 0.1 have none.',
  })

/** The last line: without it, the export broke off. */
const exportEnd = z
  .object({ type: z.literal('end'), records: z.int().describe('Lines of data before it.') })
  .meta({ id: 'ExportEnd' })

/** A line of data. */
const exportedRecord = z.discriminatedUnion('type', [
  exportedLabels,
  exportedConversionSettings,
  exportedTemplate,
  exportedRuleSet,
  exportedDomain,
  exportedDomainSettings,
  exportedMember,
  exportedLink,
  exportedClickDay,
  exportedClickLine,
  exportedConversion,
])

export const exportLine = z
  .discriminatedUnion('type', [exportHead, ...exportedRecord.options, exportCursor, exportEnd])
  .meta({ id: 'ExportLine' })

export type ExportQuery = z.output<typeof exportQuery>
export type ExportFormat = (typeof FORMATS)[number]
export type ExportHead = z.output<typeof exportHead>
export type ExportedRecord = z.output<typeof exportedRecord>
export type ExportLine = z.output<typeof exportLine>

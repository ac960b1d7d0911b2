import { z } from 'zod'
import { appleAppSiteAssociation, assetLinks } from './app-documents.ts'
import { fromFields, UTM_FIELDS } from './link-fields.ts'
import { managedByInput, managedFields } from './managed.ts'
import { destinationInput, line, timestamp, uuid } from './primitives.ts'

const UTM_LENGTH_MAX = 500

/** What search engines may do with links of a domain. */
const ROBOTS_POLICIES = ['noindex', 'index', 'disallow'] as const

const ROBOTS =
  '`noindex`: they may follow links, and list none (`X-Robots-Tag: noindex`). `index`: they may list them. `disallow`: `/robots.txt` asks them to stay away. Null: as `noindex`, and without a `/robots.txt`.'

const utmInput = z.strictObject(
  fromFields(UTM_FIELDS, () => line(UTM_LENGTH_MAX).nullable().optional()),
)

const TRACK_CONVERSIONS =
  'Whether destinations of links that do not say so themselves get a token for conversions. Null: as the workspace has it.'

export const domainSettingsSchema = z
  .object({
    domain: z.string().describe('The host name.'),
    root_url: z
      .string()
      .nullable()
      .describe('Where visits to the bare host go; null for `not_found_url` of the domain.'),
    robots: z.enum(ROBOTS_POLICIES).nullable().describe(ROBOTS),
    utm: z
      .object(fromFields(UTM_FIELDS, () => z.string().nullable()))
      .describe('UTM values for destinations that have no parameter of this name.'),
    rule_set: uuid
      .nullable()
      .describe('The rule set that is tried after the rules and the rule set of each link.'),
    track_conversions: z.boolean().nullable().describe(TRACK_CONVERSIONS),
    apple_app_site_association: appleAppSiteAssociation
      .nullable()
      .describe('Served at `/.well-known/apple-app-site-association`; null for none.'),
    assetlinks: assetLinks
      .nullable()
      .describe('Served at `/.well-known/assetlinks.json`; null for none.'),
    ...managedFields,
    updated_at: timestamp
      .nullable()
      .describe('When the settings were last changed; null where they never were.'),
  })
  .meta({ id: 'DomainSettings', description: 'What a domain does besides its links.' })

const ignored = z.unknown().optional().meta({ readOnly: true }).describe('Accepted and ignored.')

export const patchDomainSettingsBody = z
  .strictObject({
    domain: ignored,
    managed_at: ignored,
    updated_at: ignored,
    root_url: destinationInput.nullable().optional().describe('Where visits to the bare host go.'),
    robots: z.enum(ROBOTS_POLICIES).nullable().optional().describe(ROBOTS),
    utm: utmInput
      .nullable()
      .optional()
      .describe('All values; those that are left out have none. Null for none at all.'),
    rule_set: uuid.toLowerCase().nullable().optional().describe('The id of a rule set.'),
    track_conversions: z.boolean().nullable().optional().describe(TRACK_CONVERSIONS),
    apple_app_site_association: appleAppSiteAssociation.nullable().optional(),
    assetlinks: assetLinks.nullable().optional(),
    managed_by: managedByInput,
  })
  .meta({
    id: 'PatchDomainSettings',
    description: 'Changes the settings that are sent; null restores those of a new domain.',
    examples: [{ root_url: 'https://example.com/', utm: { utm_source: 'short-link' } }],
  })

export const domainSettingsBody = patchDomainSettingsBody.meta({
  id: 'WriteDomainSettings',
  description:
    'All settings: those that are left out become those of a new domain, except `managed_by`, which stays.',
  examples: [{ root_url: 'https://example.com/', robots: 'noindex' }],
})

export type RobotsPolicy = (typeof ROBOTS_POLICIES)[number]
export type DomainSettingsResource = z.output<typeof domainSettingsSchema>
export type DomainSettingsInput = z.output<typeof patchDomainSettingsBody>
export type AppleDocument = z.output<typeof appleAppSiteAssociation>
export type AssetLinksDocument = z.output<typeof assetLinks>

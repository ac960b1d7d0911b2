import { z } from 'zod'
import { includedDns } from './dns-report.ts'
import { includedHttps } from './domain-https.ts'
import { domainSettingsSchema } from './domain-settings.ts'
import { pageOf, pageQuery } from './pagination.ts'
import { destinationInput, fieldsQuery, line, timestamp, uuid } from './primitives.ts'

/** A domain in answers of the API: the 8 fields of the specification's table. */
export const domainSchema = z
  .object({
    id: uuid.describe('Domain identifier.'),
    workspace_id: uuid.describe('Workspace that owns the domain.'),
    domain: z.string().describe('The host name, lower-case; international names in A-label form.'),
    status: z.enum(['pending', 'active']).describe('`active` once DNS has proved the domain.'),
    not_found_url: z
      .string()
      .nullable()
      .describe('Where visits to the root and to unknown keys go.'),
    expired_url: z.string().nullable().describe('Where visits to expired links go.'),
    created_at: timestamp.describe('When it was added.'),
    updated_at: timestamp.describe('When it was last changed.'),
  })
  .meta({ id: 'Domain', description: 'A domain of the workspace.' })

/** What may be requested beside the fields of a domain. */
const INCLUDES = ['links', 'dns', 'https', 'default', 'settings'] as const

const include = fieldsQuery(INCLUDES).describe(
  'What each domain has beside its own fields, separated by commas: `links`, how many links are on it (needs the scope `links:read` too); `dns`, what the last check found, without a new look-up; `https`, its certificate and HSTS setting; `default`, whether new links start on it; `settings`, its settings.',
)

/** A domain with what `include` requests beside its fields. */
export const includingDomainSchema = domainSchema
  .extend({
    links: z
      .int()
      .nullable()
      .optional()
      .describe(
        'Only with `include=links`: how many links are on it; null when that cannot be counted now.',
      ),
    dns: includedDns.optional().describe('Only with `include=dns`.'),
    https: includedHttps.optional().describe('Only with `include=https`.'),
    is_default: z
      .boolean()
      .optional()
      .describe('Only with `include=default`: whether new links start on it.'),
    settings: domainSettingsSchema.optional().describe('Only with `include=settings`.'),
  })
  .meta({
    id: 'IncludingDomain',
    description: 'A domain of the workspace, with what `include` requests.',
  })

export const domainPage = pageOf(includingDomainSchema, 'DomainPage')

const domain = line(2000).describe('The host name, such as `go.example.com`.')
const ignored = z.unknown().optional().meta({ readOnly: true }).describe('Accepted and ignored.')

const optionalFields = {
  not_found_url: destinationInput
    .nullable()
    .optional()
    .describe('Where visits to the root and to unknown keys go; a 404 page when null.'),
  expired_url: destinationInput
    .nullable()
    .optional()
    .describe('Where visits to expired links go; a 410 page when null.'),
}

const readOnlyFields = {
  id: ignored,
  workspace_id: ignored,
  status: ignored,
  created_at: ignored,
  updated_at: ignored,
}

const DESCRIPTION =
  'The other fields of a domain are accepted and ignored, so a domain can be sent back as it was received.'

export const domainBody = z
  .strictObject({ domain, ...optionalFields, ...readOnlyFields })
  .meta({ id: 'WriteDomain', description: DESCRIPTION, examples: [{ domain: 'go.localhost' }] })

export const patchDomainBody = domainBody.partial({ domain: true }).meta({
  id: 'PatchDomain',
  description: DESCRIPTION,
  examples: [{ expired_url: 'https://example.com/' }],
})

export const listDomainsQuery = pageQuery.extend({
  domain: line(2000)
    .optional()
    .describe('The domain with this host name, in any spelling; at most one.'),
  include,
})

export const getDomainQuery = z.object({ include })

export const domainDeleted = z
  .object({ message: z.literal('Domain deleted') })
  .meta({ id: 'DomainDeleted' })

/** A resource of its own: the specification fixes the fields of a domain. */
export const defaultDomainSchema = z
  .object({
    domain: z.string().nullable().describe('The host name; null when there is none.'),
  })
  .meta({ id: 'DefaultDomain', description: 'The domain on which new links start.' })

export const defaultDomainBody = z
  .strictObject({
    domain: line(2000)
      .nullable()
      .describe('The host name of a domain of the workspace, in any spelling; null for none.'),
  })
  .meta({
    id: 'WriteDefaultDomain',
    description: 'The domain on which new links start.',
    examples: [{ domain: 'go.localhost' }, { domain: null }],
  })

export type ListDomainsQuery = z.output<typeof listDomainsQuery>
export type DomainInclude = (typeof INCLUDES)[number]
export type IncludingDomain = z.output<typeof includingDomainSchema>
export type DomainResource = z.output<typeof domainSchema>
export type DefaultDomainResource = z.output<typeof defaultDomainSchema>

import { z } from 'zod'
import { fromFields, UTM_FIELDS } from './link-fields.ts'
import { managedByInput, managedFields } from './managed.ts'
import { pageOf, pageQuery } from './pagination.ts'
import { line, timestamp, uuid } from './primitives.ts'

const NAME_LENGTH_MAX = 100
const UTM_LENGTH_MAX = 500

export const utmTemplateSchema = z
  .object({
    id: uuid.describe('Identifier of the template.'),
    workspace_id: uuid.describe('Workspace that owns the template.'),
    name: z.string().describe('Its name, unique in the workspace whatever its letter case.'),
    ...fromFields(UTM_FIELDS, (name) =>
      z.string().nullable().describe(`Value for \`${name}\` of a link.`),
    ),
    ...managedFields,
    created_at: timestamp.describe('When it was created.'),
    updated_at: timestamp.describe('When it was last changed.'),
  })
  .meta({ id: 'UtmTemplate', description: 'UTM values to choose for new links.' })

export const utmTemplatePage = pageOf(utmTemplateSchema, 'UtmTemplatePage')

export const listUtmTemplatesQuery = pageQuery.omit({ cursor: true })

export const utmTemplateBody = z
  .strictObject({
    name: line(NAME_LENGTH_MAX).describe('Unique in the workspace, whatever its letter case.'),
    ...fromFields(UTM_FIELDS, (name) =>
      line(UTM_LENGTH_MAX).nullable().optional().describe(`Value for \`${name}\` of a link.`),
    ),
    managed_by: managedByInput,
  })
  .meta({
    id: 'WriteUtmTemplate',
    description: 'A UTM template. Fields that are left out keep their value; null clears one.',
    examples: [{ name: 'Newsletter', utm_source: 'newsletter', utm_medium: 'email' }],
  })

export const patchUtmTemplateBody = utmTemplateBody.partial().meta({
  id: 'PatchUtmTemplate',
  description: 'The fields to change.',
  examples: [{ utm_campaign: 'spring' }],
})

export const utmTemplateDeleted = z
  .object({ message: z.literal('UTM template deleted') })
  .meta({ id: 'UtmTemplateDeleted' })

export type UtmTemplateResource = z.output<typeof utmTemplateSchema>

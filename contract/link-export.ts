import { z } from 'zod'
import { linkFilters, linkSchema } from './links.ts'
import { fieldsQuery } from './primitives.ts'

const FORMATS = ['csv', 'ndjson'] as const

/** A link in an export. The password is left out: the sealed form is useless to others, and stays a secret. */
export const exportedLinkRow = linkSchema
  .omit({ workspace_id: true, password: true })
  .extend({ protected: z.boolean().describe('Whether it has a password.') })
  .meta({ id: 'ExportedLinkRow', description: 'A link of an export.' })

export type ExportedLinkRow = z.output<typeof exportedLinkRow>

/** In the order of the columns. */
export const EXPORTED_LINK_FIELDS = exportedLinkRow.keyof().options

export const exportLinksQuery = z.strictObject({
  format: z.enum(FORMATS).optional().describe('`csv` when left out.'),
  fields: fieldsQuery(EXPORTED_LINK_FIELDS).describe(
    'The fields of each link, separated by commas, in this order: `id,link`. All when left out.',
  ),
  ...linkFilters,
})

export type ExportLinksQuery = z.output<typeof exportLinksQuery>

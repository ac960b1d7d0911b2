import { z } from 'zod'

/** Services whose APIs Terse can answer. */
export const COMPAT_SERVICES = ['yourls', 'kutt', 'shlink', 'bitly', 'polr'] as const

const service = z.enum(COMPAT_SERVICES)
const enabled = z.boolean().describe('Whether tokens with the scope `compat:` and its name work.')

const compatSchema = z.object({
  service: service.describe('The service that is answered for.'),
  enabled,
  address: z.string().describe('The address that its clients are given.'),
})

export const compatList = z
  .object({ data: z.array(compatSchema) })
  .meta({ id: 'CompatList', description: 'The APIs of other services.' })

export const compatItem = compatSchema.meta({
  id: 'Compat',
  description: 'The API of another service, as answered here.',
})

/** There are few: all are listed. */
export const compatQuery = z.strictObject({})

export const compatParams = z.object({ service: z.string().describe('Such as `kutt`.') })

export const compatBody = z
  .strictObject({ enabled })
  .meta({ id: 'WriteCompat', examples: [{ enabled: true }] })

export type CompatService = z.output<typeof service>
export type CompatResource = z.output<typeof compatSchema>

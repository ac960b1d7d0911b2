import { z } from 'zod'
import { COMPAT_SERVICES } from './compat-services.ts'
import { pageOf } from './pagination.ts'

const service = z.enum(COMPAT_SERVICES)
const enabled = z.boolean().describe('Whether tokens with the scope `compat:` and its name work.')

const compatSchema = z.object({
  service: service.describe('The service that is answered for.'),
  enabled,
  address: z.string().describe('The address that its clients are given.'),
})

export const compatItem = compatSchema.meta({
  id: 'Compat',
  description: 'The API of another service, as answered here.',
})

export const compatList = pageOf(compatItem, 'CompatList')

export const compatParams = z.object({
  service: z
    .string()
    .meta({ examples: ['kutt'] })
    .describe('`yourls`, `kutt`, `shlink`, `bitly` or `polr`.'),
})

export const compatBody = z
  .strictObject({ enabled })
  .meta({ id: 'WriteCompat', examples: [{ enabled: true }] })

export type CompatResource = z.output<typeof compatSchema>

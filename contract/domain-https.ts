import { z } from 'zod'
import { timestamp } from './primitives.ts'

/** Two years, the value recommended for the HSTS preload list that browsers ship. */
const MAX_AGE_SECONDS = 63_072_000

/** The HTTPS state and settings of a domain. */
export const domainHttpsSchema = z
  .object({
    domain: z.string().describe('The host name.'),
    certificate: z
      .object({
        valid_from: timestamp,
        valid_until: timestamp.describe('It is renewed long before.'),
      })
      .nullable()
      .describe(
        'The certificate that this service has for it; null when a proxy has it, or there is none.',
      ),
    hsts_max_age: z
      .int()
      .nullable()
      .describe(
        'For how many seconds browsers are told to use HTTPS alone; null: no such header is sent.',
      ),
  })
  .meta({ id: 'DomainHttps', description: 'The certificate of a domain, and its HSTS.' })

export const domainHttpsBody = z
  .strictObject({
    hsts_max_age: z
      .int()
      .min(0)
      .max(MAX_AGE_SECONDS)
      .nullable()
      .describe(
        'For how many seconds a browser that visits the domain is to use HTTPS alone, counted again from each visit. `0` makes browsers forget it. null sends no such header.',
      ),
  })
  .meta({
    id: 'WriteDomainHttps',
    description: 'The HTTPS settings of a domain.',
    examples: [{ hsts_max_age: 31_536_000 }],
  })

export type DomainHttpsResource = z.output<typeof domainHttpsSchema>

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
        valid_until: timestamp.describe('The service renews the certificate well before this.'),
      })
      .nullable()
      .describe(
        'The certificate that this service uses for the domain; null when it has none, for example because a proxy in front of it has the certificate.',
      ),
    hsts_max_age: z
      .int()
      .nullable()
      .describe(
        'The `max-age` of the `Strict-Transport-Security` header: for how many seconds browsers use only HTTPS for this domain. Null: the header is not sent.',
      ),
  })
  .meta({ id: 'DomainHttps', description: 'The certificate and the HSTS setting of a domain.' })

/** The same beside a domain in a list. */
export const includedHttps = domainHttpsSchema
  .omit({ domain: true })
  .meta({ id: 'IncludedHttps', description: 'The certificate and the HSTS setting of a domain.' })

export const domainHttpsBody = z
  .strictObject({
    hsts_max_age: z
      .int()
      .min(0)
      .max(MAX_AGE_SECONDS)
      .nullable()
      .describe(
        'The `max-age` of the `Strict-Transport-Security` header: for how many seconds after each visit a browser uses only HTTPS for this domain. `0` ends this in browsers that have seen an earlier value. Null sends no header.',
      ),
  })
  .meta({
    id: 'WriteDomainHttps',
    description: 'The HTTPS settings of a domain.',
    examples: [{ hsts_max_age: 31_536_000 }],
  })

export type DomainHttpsResource = z.output<typeof domainHttpsSchema>

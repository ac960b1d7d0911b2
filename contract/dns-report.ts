import { z } from 'zod'
import { timestamp } from './primitives.ts'

/** Every `code` that a difference can carry. Codes are stable: clients may branch on them. */
const DIFFERENCE_CODES = [
  'txt_missing',
  'txt_different',
  'txt_aliased',
  'txt_unknown',
  'host_missing',
  'host_without_address',
  'host_dangling',
  'host_looping',
  'host_too_many_aliases',
  'host_proxied',
  'host_elsewhere',
  'host_unknown',
  'stray_address',
  'service_unknown',
  'active_elsewhere',
] as const

const recordSchema = z
  .object({
    purpose: z.enum(['ownership', 'routing']).describe('What the record is for.'),
    type: z.enum(['TXT', 'CNAME', 'A', 'AAAA']).describe('Type of the record.'),
    name: z
      .string()
      .describe(
        'The name as most DNS panels expect it: relative to the registered domain; `@` for the registered domain itself.',
      ),
    full_name: z.string().describe('The full name, for panels that expect it.'),
    value: z.string().describe('The value that the record must have.'),
  })
  .meta({ id: 'DnsRecord', description: 'A DNS record to set.' })

const certificateSchema = z
  .object({
    valid_until: timestamp
      .nullable()
      .describe('When the current certificate expires; null without one.'),
    problem: z
      .string()
      .nullable()
      .describe('What prevents the first certificate or the renewal, as text for people.'),
    next_attempt_at: timestamp.nullable().describe('The time of the next attempt.'),
  })
  .meta({ id: 'CertificateStanding', description: 'The certificate of a domain.' })

const seenValues = z.array(z.string())

/** What the scheduled checks have found, and when. */
const checkFields = {
  last_check_at: timestamp.nullable().describe('When the status was last checked.'),
  next_check_at: timestamp
    .nullable()
    .describe('The time of the next check; null when only a request starts one.'),
  missing_since: timestamp
    .nullable()
    .describe('When a check first missed the proof of an active domain; null while it is there.'),
  pending_from: timestamp
    .nullable()
    .describe(
      'When an active domain whose proof is missing becomes pending, unless the proof returns.',
    ),
}

const unicodeDomain = z
  .string()
  .describe('The host name as people read it: `münchen.example` for `xn--mnchen-3ya.example`.')

/** What is known of a domain's DNS without a look-up, beside the domain in a list. */
export const includedDns = z
  .object({
    unicode_domain: unicodeDomain,
    verdict: z
      .enum(['proved', 'unproved', 'unknown'])
      .nullable()
      .describe(
        'The result of the last check; `unknown` when DNS did not answer, null before the first one.',
      ),
    is_active_elsewhere: z
      .boolean()
      .describe('Whether the last check found the proof while another workspace has the domain.'),
    ...checkFields,
  })
  .meta({ id: 'IncludedDns', description: 'What the last check of a domain found in DNS.' })

/** The DNS records that a domain needs, and those that were found. */
export const dnsReportSchema = z
  .object({
    domain: z.string().describe('The host name; international names in A-label form.'),
    unicode_domain: unicodeDomain,
    status: z.enum(['pending', 'active']).describe('Status of the domain.'),
    proof: z
      .enum(['dns', 'routing', 'none'])
      .describe('What this service requires: TXT record and routing, only routing, or nothing.'),
    verdict: z
      .enum(['proved', 'unproved', 'unknown'])
      .describe(
        'The result of this look-up. `unknown`: DNS did not answer; the status does not change.',
      ),
    records: z
      .array(recordSchema)
      .describe('The records to set; one of several `A` and `AAAA` records is enough.'),
    seen: z.object({
      txt: seenValues.describe('Texts at the name of the ownership record, at most 20.'),
      cname: seenValues.describe(
        'The chain of aliases that starts at the host, as far as public DNS returns it.',
      ),
      a: seenValues.describe('IPv4 addresses of the host, at most 20; no private ones.'),
      aaaa: seenValues.describe('IPv6 addresses of the host, at most 20; no private ones.'),
    }),
    differences: z
      .array(
        z.object({
          code: z.enum(DIFFERENCE_CODES).describe('For a program to branch on.'),
          text: z.string().describe('What to do, as text for people.'),
        }),
      )
      .describe('The differences between the required records and those found.'),
    ...checkFields,
    certificate: certificateSchema
      .nullable()
      .describe('For an active domain, if this service obtains certificates itself; else null.'),
  })
  .meta({
    id: 'DnsReport',
    description: 'The DNS records that a domain requires, and those that were found.',
  })

export type DnsReportResource = z.output<typeof dnsReportSchema>

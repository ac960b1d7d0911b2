import { z } from 'zod'

const quota = (what: string) =>
  z
    .object({
      used: z.int().describe('The current use.'),
      limit: z.int().nullable().describe('Null when there is no limit.'),
    })
    .describe(what)

/** The use of a workspace and its quotas. */
export const usageSchema = z
  .object({
    links: quota('Links.'),
    domains: quota('Domains, active and pending.'),
    pending_domains: quota('Pending domains.'),
    conversions: quota('Conversions that are kept.'),
    storage_bytes: quota(
      'Bytes of the links’ texts: keys, destinations, tags and other fields; and of uploaded images.',
    ),
    requests_per_minute: quota(
      'Requests of all tokens of the workspace in the current minute, as counted by the node that answers.',
    ),
  })
  .meta({ id: 'Usage', description: 'The use of a workspace and its quotas.' })

export type UsageResource = z.output<typeof usageSchema>

import { z } from 'zod'

const quota = (what: string) =>
  z
    .object({
      used: z.int().describe('What is used now.'),
      limit: z.int().nullable().describe('null where there is no limit.'),
    })
    .describe(what)

/** What a workspace uses, and its quotas. */
export const usageSchema = z
  .object({
    links: quota('Links.'),
    domains: quota('Domains, active and pending.'),
    pending_domains: quota('Domains that wait for their proof.'),
    storage_bytes: quota('Text that the links hold: keys, destinations, tags and the like.'),
    requests_per_minute: quota(
      'Requests of all tokens of the workspace in the minute under way, as far as the node that answers knows.',
    ),
  })
  .meta({ id: 'Usage', description: 'What a workspace uses, and its quotas.' })

export type UsageResource = z.output<typeof usageSchema>

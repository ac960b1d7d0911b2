import { z } from 'zod'

/** From the least to the most that a member may do. Each role may do all that those before it may. */
export const ROLES = ['viewer', 'member', 'admin', 'owner'] as const

export const roleSchema = z
  .enum(ROLES, { error: `must be one of ${ROLES.join(', ')}` })
  .describe(
    '`viewer` reads links, domains and clicks; `member` also writes links; `admin` also manages domains, people, tokens and settings; `owner` also owners and the deletion of the workspace.',
  )

export type Role = z.output<typeof roleSchema>

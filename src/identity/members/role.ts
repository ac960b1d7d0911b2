import type { Role } from '@terse/contract/roles'

/** From the least to the most that a member may do, as in the contract, which loads zod. */
export const ROLES = ['viewer', 'member', 'admin', 'owner'] as const satisfies readonly Role[]

export function isHigher(role: Role, than: Role): boolean {
  return ROLES.indexOf(role) > ROLES.indexOf(than)
}

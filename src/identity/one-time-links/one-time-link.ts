import type { Role } from '@terse/contract/roles'
import type { Actor } from '../actor.ts'

/** A link with a secret code that works once: for set-up, an invitation, a new password or another address. */
export type OneTimeLink = {
  readonly id: string
  readonly kind: 'setup' | 'invitation' | 'reset' | 'email'
  /** For `reset`, the person whose password it sets; for `email`, the person whose address it changes. */
  readonly person_id: string | null
  /** For `invitation`, the address and the role; for `email`, the new address. */
  readonly email: string | null
  readonly email_folded: string | null
  readonly role: Role | null
  /**
   * For `invitation`, the workspace to join. For `reset`, the workspace whose admin made the link;
   * null for operators.
   */
  readonly workspace_id: string | null
  /** The name of who made it. */
  readonly created_by: string | null
  readonly created_by_kind: Actor['kind'] | null
  /** The token or person; null for `system`. */
  readonly created_by_id: string | null
  /** Microseconds since the epoch, as are all times here. */
  readonly created_at: number
  readonly expires_at: number
  readonly used_at: number | null
}

/** A link that was found by one of its codes. */
export type FoundLink = OneTimeLink & {
  /** Whether by the code that went to its address by mail alone. */
  readonly is_mailed: boolean
}

export type OneTimeLinkKind = OneTimeLink['kind']

/** What links have that are not about one person or workspace. */
export const NO_SUBJECT = {
  person_id: null,
  email: null,
  email_folded: null,
  workspace_id: null,
  role: null,
} as const

/** The columns of a link that name its maker, who is judged again when the link is used. */
export function madeBy({
  name,
  kind,
  id,
}: Pick<Actor, 'name' | 'kind' | 'id'>): Pick<
  OneTimeLink,
  'created_by' | 'created_by_kind' | 'created_by_id'
> {
  return { created_by: name, created_by_kind: kind, created_by_id: id }
}

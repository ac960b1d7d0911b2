import type { Role } from '@terse/contract/roles'

/** That a person belongs to a workspace. */
export type Membership = {
  readonly workspace_id: string
  readonly person_id: string
  readonly role: Role
  /** Microseconds since the epoch. */
  readonly created_at: number
}

/** A membership as the person sees it. */
export type NamedMembership = Membership & { readonly workspace_name: string }

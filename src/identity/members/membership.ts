import type { Role } from '@terse/contract/roles'
import type { Person } from '../people/person.ts'

/** A person's membership in a workspace. */
export type Membership = {
  readonly workspace_id: string
  readonly person_id: string
  readonly role: Role
  /** Microseconds since the epoch. */
  readonly created_at: number
  readonly source: MembershipSource
}

/**
 * Who granted a membership: a person, or the groups of single sign-on, which also withdraw it. Null for one from
 * before this was noted: at the person's next sign-on, the groups decide.
 */
type MembershipSource = 'hand' | 'groups' | null

/** A membership as the person sees it. */
export type NamedMembership = Membership & {
  readonly workspace_name: string
  readonly workspace_title: string
}

/** A membership as the workspace sees it. */
export type ShownMember = {
  readonly person: Person
  readonly role: Role
  readonly source: MembershipSource
  /** Microseconds since the epoch, as are all times here. */
  readonly joinedAt: number
  readonly hasSecondFactor: boolean
  /** The last use of a session; null where there is none. */
  readonly lastSeenAt: number | null
}

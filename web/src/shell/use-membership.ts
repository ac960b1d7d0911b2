import { useSuspenseQuery } from '@tanstack/react-query'
import { membershipOf } from '../api/membership.ts'
import { type Membership, type Role, type Session, sessionQuery } from '../api/session.ts'
import { useObservable } from '../state/observable.ts'
import { currentWorkspace } from '../state/workspace.ts'

const ROLES: readonly Role[] = ['viewer', 'member', 'admin', 'owner']

type Current = {
  readonly session: Session
  /** Undefined for a person who is in no workspace. */
  readonly membership: Membership | undefined
  /** Whether the role is at least this one. The API decides; this hides what it would refuse. */
  may(role: Role): boolean
}

/** The person who is signed in, in the workspace that is shown. Only below the shell. */
export function useMembership(): Current {
  const { data: session } = useSuspenseQuery(sessionQuery)
  const id = useObservable(currentWorkspace)
  const membership = membershipOf(session, id)
  const rank = membership === undefined ? -1 : ROLES.indexOf(membership.role)
  return { session, membership, may: (role) => rank >= ROLES.indexOf(role) }
}

import { type QueryClient, useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { membershipOf } from '../api/reads.ts'
import {
  type Membership,
  ROLES,
  type Role,
  type Session,
  sessionQuery,
  signOut,
} from '../api/session.ts'
import { forgetDraftsOfOthers } from '../state/drafts.ts'
import { useObservable } from '../state/observable.ts'
import { currentWorkspace, setCurrentWorkspace } from '../state/workspace.ts'
import { endUndoOffers } from '../widgets/Toasts.tsx'

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

/** Shows another workspace, from its links on. */
export function useChangeWorkspace(): (id: string) => Promise<void> {
  const client = useQueryClient()
  const navigate = useNavigate()
  return async (id) => {
    endUndoOffers()
    // Nothing of the other workspace may be shown for a moment, and nothing more of it asked for.
    await client.cancelQueries()
    setCurrentWorkspace(id)
    client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' })
    await navigate({ to: '/links' })
  }
}

/** Ends the session, and leads to the sign-in. Acts that could be undone are done first. */
export function useSignOut(): () => Promise<void> {
  const client = useQueryClient()
  const navigate = useNavigate()
  return async () => {
    endUndoOffers()
    await signOut()
    forgetDraftsOfOthers(undefined)
    client.clear()
    await navigate({ to: '/sign-in' })
  }
}

/** Begins to show what a session may see. Nothing that another one has loaded is left. */
export function startSession(client: QueryClient, session: Session): void {
  client.removeQueries({ type: 'inactive' })
  client.setQueryData(sessionQuery.queryKey, session)
}

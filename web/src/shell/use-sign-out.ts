import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { signOut } from '../api/session.ts'
import { forgetDraftsOfOthers } from '../state/drafts.ts'
import { endUndoOffers } from '../widgets/toasts.ts'

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

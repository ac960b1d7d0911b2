import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { setCurrentWorkspace } from '../state/workspace.ts'
import { endUndoOffers } from '../widgets/toasts.ts'

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

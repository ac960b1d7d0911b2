import type { QueryClient } from '@tanstack/react-query'
import { type Session, sessionQuery } from '../api/session.ts'

/** Begins to show what a session may see. Nothing that another one has loaded is left. */
export function startSession(client: QueryClient, session: Session): void {
  client.removeQueries({ type: 'inactive' })
  client.setQueryData(sessionQuery.queryKey, session)
}

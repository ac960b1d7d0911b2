import { type EarlyAnswer, keepEarlyAnswer, requestEarly } from '../api/early-answers.ts'
import { membershipOf } from '../api/membership.ts'
import { SESSION_READ } from '../api/reads.ts'
import type { Session } from '../api/session.ts'
import { storedWorkspace } from '../state/stored-workspace.ts'
import type { FirstPage } from './pages.ts'

/**
 * Requests the session, and then what the page shows first, in the workspace that it will show. Settles once all of it
 * is requested.
 */
export async function requestData(page: FirstPage | undefined): Promise<void> {
  if (page === undefined) return
  const session = requestEarly(SESSION_READ)
  const workspace = session.then(workspaceOf).catch(() => undefined)
  keepEarlyAnswer(SESSION_READ, session)
  for (const read of page.reads) {
    const answer = workspace.then((id) => (id === undefined ? undefined : requestEarly(read, id)))
    keepEarlyAnswer(read, answer)
  }
  await workspace
}

async function workspaceOf(answer: EarlyAnswer | undefined): Promise<string | undefined> {
  if (!answer?.response.ok) return undefined
  const session: Session = await answer.response.clone().json()
  return membershipOf(session, storedWorkspace())?.workspace_id
}

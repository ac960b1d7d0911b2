// A small script in the head of the page, built by itself. Before the dashboard's code runs, it sets the theme, requests
// the page's first data and preloads its code, which would otherwise be found and loaded step by step.
import {
  type EarlyAnswer,
  keepEarlyAnswer,
  membershipOf,
  requestEarly,
  SESSION_READ,
} from '../api/reads.ts'
import type { Session } from '../api/session.ts'
import { stored, storedWorkspace } from '../state/stored.ts'
import { preloadCode, runCode } from './code.ts'
import { type FirstPage, pageOf } from './pages.ts'

showTheme()
runCode(begin())

/** Settles once the first data is requested. If that fails, the dashboard requests the data itself. */
async function begin(): Promise<void> {
  const page = pageOf(location)
  const requested = requestData(page)
  preloadCode(page)
  await requested
}

/** Shows the theme that was chosen in this browser. Without one, the system decides. `state/preference.ts` writes it. */
function showTheme(): void {
  const theme = stored('theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset['theme'] = theme
}

/**
 * Requests the session, and then what the page shows first, in the workspace that it will show. Settles once all of it
 * is requested.
 */
async function requestData(page: FirstPage | undefined): Promise<void> {
  if (page === undefined) return
  const session = requestEarly(SESSION_READ)
  const workspace = session.then(workspaceOf).catch(() => undefined)
  keepEarlyAnswer(SESSION_READ, session)
  for (const read of page.reads) {
    const leave = new AbortController()
    const answer = workspace.then((id) =>
      id === undefined ? undefined : requestEarly(read, id, leave.signal),
    )
    keepEarlyAnswer(read, answer, leave)
  }
  await workspace
}

async function workspaceOf(answer: EarlyAnswer | undefined): Promise<string | undefined> {
  if (!answer?.response.ok) return undefined
  const session: Session = await answer.response.clone().json()
  return membershipOf(session, storedWorkspace())?.workspace_id
}

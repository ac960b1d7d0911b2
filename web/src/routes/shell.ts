import type { QueryClient } from '@tanstack/react-query'
import {
  createRootRouteWithContext,
  createRoute,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router'
import { ApiError } from '../api/api-error.ts'
import { membershipOf } from '../api/membership.ts'
import { type Membership, sessionQuery } from '../api/session.ts'
import { usageQuery } from '../api/workspaces.ts'
import { NotFoundPage } from '../shell/NotFoundPage.tsx'
import { PageFailure } from '../shell/PageFailure.tsx'
import { Shell } from '../shell/Shell.tsx'
import { currentWorkspace, setCurrentWorkspace } from '../state/workspace.ts'

export const root = createRootRouteWithContext<{ readonly client: QueryClient }>()({
  component: Outlet,
  errorComponent: PageFailure,
  notFoundComponent: NotFoundPage,
})

const NO_WORKSPACE = '/no-workspace'

/** Whether a page belongs to a workspace, and the person to none. */
function isLost(pathname: string, membership: Membership | undefined): boolean {
  return membership === undefined && !pathname.startsWith('/settings')
}

/** Returns the workspace that is shown; undefined for a person who is in none. Asks who has no session to sign in. */
async function requireSession(client: QueryClient, href: string): Promise<Membership | undefined> {
  const session = await client.ensureQueryData(sessionQuery).catch((error) => {
    if (!(error instanceof ApiError) || error.status !== 401) throw error
    throw redirect({ to: '/sign-in', search: { to: href } })
  })
  const membership = membershipOf(session, currentWorkspace.value)
  if (membership !== undefined) setCurrentWorkspace(membership.workspace_id)
  return membership
}

/** Everything below it needs a session. */
export const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  component: Shell,
  async beforeLoad({ context, location }) {
    const membership = await requireSession(context.client, location.href)
    const { pathname } = location
    // The own account and the instance belong to no workspace.
    if (pathname === NO_WORKSPACE ? membership !== undefined : isLost(pathname, membership)) {
      throw redirect({ to: membership === undefined ? NO_WORKSPACE : '/links', replace: true })
    }
  },
})

/** Where the set-up ends. With the first link, it gives way to the list. */
export const firstLink = createRoute({
  getParentRoute: () => root,
  path: '/first-link',
  async beforeLoad({ context: { client }, location }) {
    const membership = await requireSession(client, location.href)
    if (membership === undefined) throw redirect({ to: NO_WORKSPACE, replace: true })
    const { links } = await client.fetchQuery(usageQuery)
    if (links.used > 0) throw redirect({ to: '/links', replace: true })
  },
  component: lazyRouteComponent(() => import('../pages/first-link/FirstLinkPage.tsx')),
})

export const home = createRoute({
  getParentRoute: () => shell,
  path: '/',
  beforeLoad() {
    throw redirect({ to: '/links', replace: true })
  },
})

export const noWorkspace = createRoute({
  getParentRoute: () => shell,
  path: NO_WORKSPACE,
  component: lazyRouteComponent(() => import('../shell/NoWorkspace.tsx')),
})

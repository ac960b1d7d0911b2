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

/** Everything below it needs a session. */
export const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  component: Shell,
  async beforeLoad({ context, location }) {
    const session = await context.client.ensureQueryData(sessionQuery).catch((error) => {
      if (!(error instanceof ApiError) || error.status !== 401) throw error
      throw redirect({ to: '/sign-in', search: { to: location.href } })
    })
    const membership = membershipOf(session, currentWorkspace.value)
    const { pathname } = location
    // The own account and the instance belong to no workspace.
    if (pathname === NO_WORKSPACE ? membership !== undefined : isLost(pathname, membership)) {
      throw redirect({ to: membership === undefined ? NO_WORKSPACE : '/links', replace: true })
    }
    if (membership !== undefined) setCurrentWorkspace(membership.workspace_id)
  },
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

import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router'
import type { ComponentType } from 'react'
import { AUDIT_KINDS, type AuditFilter } from '../api/events.ts'
import { sessionQuery } from '../api/session.ts'
import { dayOf, textOf, wordOf } from '../search-text.ts'
import { shell } from './shell.ts'

export const settings = createRoute({
  getParentRoute: () => shell,
  path: '/settings',
  component: lazyRouteComponent(() => import('../pages/settings/SettingsPage.tsx')),
})

const settingsHome = createRoute({
  getParentRoute: () => settings,
  path: '/',
  async beforeLoad({ context }) {
    const { memberships } = await context.client.ensureQueryData(sessionQuery)
    const to = memberships.length > 0 ? '/settings/general' : '/settings/profile'
    throw redirect({ to, replace: true })
  },
})

const audit = createRoute({
  getParentRoute: () => settings,
  path: '/audit',
  validateSearch: ({ kind, actor, from, to }): AuditFilter => ({
    kind: wordOf(AUDIT_KINDS, kind),
    actor: textOf(actor),
    from: dayOf(from),
    to: dayOf(to),
  }),
  component: lazyRouteComponent(() => import('../pages/settings/audit/AuditPage.tsx')),
})

type MembersSearch = {
  /** Whether the dialog is open that invites a person. */
  readonly invite?: 'yes' | undefined
}

const members = createRoute({
  getParentRoute: () => settings,
  path: '/members',
  validateSearch: ({ invite }): MembersSearch => ({ invite: wordOf(['yes'], invite) }),
  component: lazyRouteComponent(() => import('../pages/settings/members/MembersPage.tsx')),
})

/** A page of the settings whose address has no parameters. */
function settingsPage<const P extends string>(
  path: P,
  load: () => Promise<{ default: ComponentType }>,
) {
  return createRoute({
    getParentRoute: () => settings,
    path,
    component: lazyRouteComponent(load),
  })
}

const importDetails = createRoute({
  getParentRoute: () => settings,
  path: '/imports/$importId',
  component: lazyRouteComponent(() => import('../pages/settings/imports/ImportPage.tsx')),
})

export const settingsPages = [
  settingsHome,
  audit,
  settingsPage('/general', () => import('../pages/settings/GeneralPage.tsx')),
  members,
  settingsPage('/tokens', () => import('../pages/settings/tokens/TokensPage.tsx')),
  settingsPage('/imports', () => import('../pages/settings/imports/ImportsPage.tsx')),
  settingsPage('/imports/new', () => import('../pages/settings/imports/NewImportPage.tsx')),
  importDetails,
  settingsPage('/profile', () => import('../pages/settings/account/ProfilePage.tsx')),
  settingsPage('/security', () => import('../pages/settings/account/SecurityPage.tsx')),
  settingsPage('/sessions', () => import('../pages/settings/account/SessionsPage.tsx')),
  settingsPage('/instance', () => import('../pages/settings/instance/InstancePage.tsx')),
  settingsPage('/people', () => import('../pages/settings/instance/PeoplePage.tsx')),
  settingsPage('/workspaces', () => import('../pages/settings/instance/WorkspacesPage.tsx')),
] as const

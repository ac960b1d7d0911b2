import type { Role } from '../api/session.ts'
import type { Catalogue } from '../text/en.ts'
import { useMembership } from './use-membership.ts'

export type SettingsPlace = {
  readonly to:
    | '/settings/general'
    | '/settings/members'
    | '/settings/tokens'
    | '/settings/audit'
    | '/settings/imports'
    | '/settings/profile'
    | '/settings/security'
    | '/settings/sessions'
    | '/settings/instance'
    | '/settings/people'
    | '/settings/workspaces'
  readonly group: 'workspace' | 'you' | 'operator'
  readonly name: keyof Catalogue['settings']['pages']
  /** The least role in the workspace; undefined for what belongs to no workspace. */
  readonly role?: Role
}

/** The pages of the settings, in their order. */
export const SETTINGS_PLACES: readonly SettingsPlace[] = [
  { to: '/settings/general', group: 'workspace', name: 'general', role: 'viewer' },
  { to: '/settings/members', group: 'workspace', name: 'members', role: 'admin' },
  { to: '/settings/tokens', group: 'workspace', name: 'tokens', role: 'admin' },
  { to: '/settings/audit', group: 'workspace', name: 'audit', role: 'admin' },
  { to: '/settings/imports', group: 'workspace', name: 'imports', role: 'member' },
  { to: '/settings/profile', group: 'you', name: 'profile' },
  { to: '/settings/security', group: 'you', name: 'security' },
  { to: '/settings/sessions', group: 'you', name: 'sessions' },
  { to: '/settings/instance', group: 'operator', name: 'instance' },
  { to: '/settings/people', group: 'operator', name: 'people' },
  { to: '/settings/workspaces', group: 'operator', name: 'workspaces' },
]

/** Whether the person may see a page of the settings. */
export function useMaySee(): (place: SettingsPlace) => boolean {
  const { session, may } = useMembership()
  return ({ group, role }) =>
    group === 'operator' ? session.person.is_operator : role === undefined || may(role)
}

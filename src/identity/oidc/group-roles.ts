import { ROLES, type Role } from '@terse/contract/roles'
import { sessionChange } from '../../platform/changes/change.ts'
import type { ChangeLog } from '../../platform/changes/change-log.ts'
import type { EventWriter } from '../../platform/events/event-writer.ts'
import { systemActor } from '../actor.ts'
import type { MembershipStore } from '../members/store/membership-store.ts'
import type { Person } from '../people/person.ts'
import type { WorkspaceStore } from '../workspaces/store/workspace-store.ts'

/** Members of a group of the provider have a role in a workspace. */
export type GroupRole = {
  readonly group: string
  /** The name of the workspace. */
  readonly workspace: string
  readonly role: Role
}

export type GroupRoleStores = {
  readonly workspaces: WorkspaceStore
  readonly memberships: MembershipStore
  readonly changes: ChangeLog
  readonly events: EventWriter
}

const singleSignOn = systemActor('single sign-on')

/** The highest role of the groups in each workspace that the map names; undefined for none. */
export function rolesByWorkspace(
  map: readonly GroupRole[],
  groups: readonly string[],
): ReadonlyMap<string, Role | undefined> {
  const roles = new Map<string, Role | undefined>()
  for (const { workspace, group, role } of map) {
    const before = roles.get(workspace)
    const isHigher = before === undefined || ROLES.indexOf(role) > ROLES.indexOf(before)
    roles.set(workspace, groups.includes(group) && isHigher ? role : before)
  }
  return roles
}

/**
 * Gives a person, within a transaction, the roles of their groups. In a workspace that the map names, the map
 * decides: another role is replaced, and without a group the membership ends. The last owner of a workspace
 * stays its owner. Workspaces that do not exist are passed over.
 */
export async function applyGroupRoles(
  stores: GroupRoleStores,
  person: Person,
  roles: ReadonlyMap<string, Role | undefined>,
  now: number,
): Promise<void> {
  let hasChanged = false
  for (const [name, role] of [...roles].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const workspace = await stores.workspaces.findByName(name)
    if (workspace === undefined) continue
    if (await setRole(stores, person, workspace.id, role, now)) hasChanged = true
  }
  if (hasChanged) await stores.changes.append(sessionChange(person.id), now)
}

/** Returns whether anything has changed. */
async function setRole(
  { memberships, events }: GroupRoleStores,
  { id, email }: Person,
  workspaceId: string,
  role: Role | undefined,
  now: number,
): Promise<boolean> {
  await memberships.lock(workspaceId)
  const before = (await memberships.find(workspaceId, id))?.role
  if (before === role) return false
  if (before === 'owner' && (await memberships.countOwners(workspaceId)) <= 1) return false
  const author = singleSignOn(workspaceId)
  if (role === undefined) {
    await memberships.delete(workspaceId, id)
    const fields = { email, role: before }
    const event = { type: 'member.removed', subjectId: id, before: fields, after: null } as const
    await events.append(author, event, now)
  } else if (before === undefined) {
    await memberships.insert({ workspace_id: workspaceId, person_id: id, role, created_at: now })
    const event = { type: 'member.added', subjectId: id, before: null } as const
    await events.append(author, { ...event, after: { email, role } }, now)
  } else {
    await memberships.setRole(workspaceId, id, role)
    const event = { type: 'member.updated', subjectId: id } as const
    await events.append(author, { ...event, before: { role: before }, after: { role } }, now)
  }
  return true
}

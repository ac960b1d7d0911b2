import type { Role } from '@terse/contract/roles'
import { type ChangeLog, sessionChange } from '../../storage/changes.ts'
import type { NewEvent } from '../../storage/event-log.ts'
import { systemActor } from '../actor.ts'
import { endLostGrants, type GrantStores } from '../grants.ts'
import type { Person } from '../people/person.ts'
import { isHigher } from '../permissions.ts'
import type { Membership } from '../store/membership-store.ts'
import type { GroupBindingStore, WorkspaceStore } from '../store/workspace-store.ts'

/** Members of a group of the provider have a role in a workspace. */
export type GroupRole = {
  readonly group: string
  /** The name that the workspace had when it was bound. */
  readonly workspace: string
  readonly role: Role
}

export type GroupRoleStores = GrantStores & {
  readonly workspaces: WorkspaceStore
  readonly groupBindings: GroupBindingStore
  readonly changes: ChangeLog
}

/** What the map says of a workspace for one person. */
type Target = {
  /** Undefined where no group of the person has one. */
  role: Role | undefined
  /** Names that are not bound to it yet. */
  readonly unbound: string[]
}

const singleSignOn = systemActor('single sign-on')

/** How long a role from groups lasts without a sign-on: as long as the longest session. */
const CONFIRMED_MICROS = 30 * 24 * 60 * 60 * 1_000_000

/** The highest role of the groups in each workspace that the map names; undefined for none. */
export function rolesByWorkspace(
  map: readonly GroupRole[],
  groups: readonly string[],
): ReadonlyMap<string, Role | undefined> {
  const roles = new Map<string, Role | undefined>()
  for (const { workspace, group, role } of map) {
    const before = roles.get(workspace)
    roles.set(workspace, groups.includes(group) ? higherOf(role, before) : before)
  }
  return roles
}

/**
 * Gives a person, within a transaction, the roles of their groups, and withdraws those that groups gave before and
 * give no longer. A role given by hand stays as it is, and so does the last owner of a workspace. A name in the map
 * is bound to the workspace that has it when it is first used; names of no workspace are passed over.
 *
 * @returns whether the person has joined a workspace or has a higher role in one
 */
export async function applyGroupRoles(
  stores: GroupRoleStores,
  person: Person,
  roles: ReadonlyMap<string, Role | undefined>,
  now: number,
): Promise<boolean> {
  let hasGained = false
  let hasChanged = false
  const targets = await targetsOf(stores, person, roles)
  // In one order, so that two sign-ons cannot wait for one another.
  for (const [workspaceId, target] of [...targets].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    await stores.memberships.lock(workspaceId)
    if (!(await isBound(stores, workspaceId, target, now))) continue
    const change = await setRole(stores, person, workspaceId, target.role, now)
    hasGained ||= change === 'gained'
    hasChanged ||= change !== 'unchanged'
  }
  if (hasChanged) await noteChange(stores, person, now)
  return hasGained
}

/**
 * Withdraws, within a transaction, the roles that groups gave a person and that no sign-on has confirmed for as long
 * as a session may last. The last owner of a workspace stays.
 */
export function endLapsedGroupRoles(
  stores: GroupRoleStores,
  person: Person,
  now: number,
): Promise<void> {
  return endGroupRoles(stores, person, now, now - CONFIRMED_MICROS)
}

/** As `endLapsedGroupRoles`, for a person whom the provider can no longer confirm: all of them. */
export async function endGroupRoles(
  stores: GroupRoleStores,
  person: Person,
  now: number,
  confirmedSince = Number.MAX_SAFE_INTEGER,
): Promise<void> {
  const workspaceIds = await stores.memberships.listUnconfirmed(person.id, confirmedSince)
  for (const workspaceId of workspaceIds) {
    await stores.memberships.lock(workspaceId)
    await setRole(stores, person, workspaceId, undefined, now)
  }
  if (workspaceIds.length > 0) await noteChange(stores, person, now)
}

async function noteChange(stores: GroupRoleStores, { id }: Person, now: number): Promise<void> {
  await stores.changes.append(sessionChange(id), now)
  await endLostGrants(stores, id, now)
}

/** By the workspaces' identifiers. */
async function targetsOf(
  { workspaces, memberships, groupBindings }: GroupRoleStores,
  { id }: Person,
  roles: ReadonlyMap<string, Role | undefined>,
): Promise<ReadonlyMap<string, Target>> {
  const targets = new Map<string, Target>()
  for (const [name, role] of roles) {
    const binding = await groupBindings.find(name)
    const workspaceId =
      binding === undefined ? (await workspaces.findByName(name))?.id : binding.workspace_id
    if (typeof workspaceId !== 'string') continue
    const target = targets.get(workspaceId) ?? { role: undefined, unbound: [] }
    target.role = higherOf(role, target.role)
    if (binding === undefined) target.unbound.push(name)
    targets.set(workspaceId, target)
  }
  for (const { workspace_id, source } of await memberships.listOfPerson(id)) {
    if (source !== 'groups' || targets.has(workspace_id)) continue
    targets.set(workspace_id, { role: undefined, unbound: [] })
  }
  return targets
}

/** Binds the names of a workspace, whose members are locked. False where it was deleted meanwhile. */
async function isBound(
  { workspaces, groupBindings, events }: GroupRoleStores,
  workspaceId: string,
  { unbound }: Target,
  now: number,
): Promise<boolean> {
  if ((await workspaces.findById(workspaceId)) === undefined) return false
  for (const name of unbound) {
    if ((await groupBindings.bindFirst(name, workspaceId, now)) !== workspaceId) return false
    await events.append(singleSignOn(workspaceId), groupsBound(workspaceId, name), now)
  }
  return true
}

export function groupsBound(subjectId: string, name: string): NewEvent {
  return { type: 'workspace.updated', subjectId, before: {}, after: { oidc_roles_name: name } }
}

/** Changes what groups have given, in a workspace whose members are locked. */
async function setRole(
  stores: GroupRoleStores,
  person: Person,
  workspaceId: string,
  role: Role | undefined,
  now: number,
): Promise<'gained' | 'changed' | 'unchanged'> {
  const { memberships, events } = stores
  const { id, email } = person
  const before = await memberships.find(workspaceId, id)
  if (before?.source === 'hand') return 'unchanged'
  if (before !== undefined && role !== before.role && (await isLastOwner(stores, before))) {
    return 'unchanged'
  }
  const author = singleSignOn(workspaceId)
  if (role === undefined) {
    if (before === undefined) return 'unchanged'
    await memberships.delete(workspaceId, id)
    const event = { type: 'member.removed', subjectId: id, after: null } as const
    await events.append(author, { ...event, before: { email, role: before.role } }, now)
    return 'changed'
  }
  if (before === undefined) {
    const added = { workspace_id: workspaceId, person_id: id, role, created_at: now }
    await memberships.insert({ ...added, source: 'groups' })
    const event = { type: 'member.added', subjectId: id, before: null } as const
    await events.append(author, { ...event, after: { email, role } }, now)
  } else {
    await memberships.setRole(workspaceId, id, role, 'groups')
  }
  await memberships.confirm(workspaceId, id, now)
  if (before === undefined) return 'gained'
  if (before.role === role) return 'unchanged'
  const event = { type: 'member.updated', subjectId: id } as const
  await events.append(author, { ...event, before: { role: before.role }, after: { role } }, now)
  return isHigher(role, before.role) ? 'gained' : 'changed'
}

async function isLastOwner(
  { memberships }: GroupRoleStores,
  { workspace_id, role }: Membership,
): Promise<boolean> {
  return role === 'owner' && (await memberships.countOwners(workspace_id)) <= 1
}

function higherOf(role: Role | undefined, other: Role | undefined): Role | undefined {
  if (role === undefined || other === undefined) return role ?? other
  return isHigher(role, other) ? role : other
}

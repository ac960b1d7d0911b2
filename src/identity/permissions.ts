import {
  COMPAT_SCOPES,
  type CompatScope,
  type CompatService,
} from '@terse/contract/compat-services'
import type { Role } from '@terse/contract/roles'
import { Failure } from '../platform/failure.ts'

/** From the least to the most that a member may do, as in the contract, which loads zod. */
export const ROLES = ['viewer', 'member', 'admin', 'owner'] as const satisfies readonly Role[]

export function isHigher(role: Role, than: Role): boolean {
  return ROLES.indexOf(role) > ROLES.indexOf(than)
}

/** What a token may do. */
export const SCOPES = [
  'links:read',
  'links:write',
  'domains:read',
  'domains:write',
  'clicks:read',
  'conversions:read',
  'conversions:write',
  'webhooks:read',
  'webhooks:write',
  'workspace:admin',
] as const

export type Scope = (typeof SCOPES)[number] | CompatScope

/** Scopes that a token has only if they are requested: a webhook sends what happens to another place. */
const UNUSUAL_SCOPES: ReadonlySet<Scope> = new Set([
  'webhooks:read',
  'webhooks:write',
  'workspace:admin',
])

/** The scopes of a token for which none are requested: to read and write, but not to administer the workspace. */
export const USUAL_SCOPES: readonly Scope[] = SCOPES.filter((scope) => !UNUSUAL_SCOPES.has(scope))

export function isScope(text: string): text is Scope {
  return [...SCOPES, ...COMPAT_SCOPES].some((scope) => scope === text)
}

const PERMISSIONS = [
  'links.view',
  'links.edit',
  'links.delete',
  'domains.view',
  'domains.edit',
  'clicks.view',
  'conversions.view',
  'conversions.record',
  'webhooks.view',
  'webhooks.edit',
  'usage.view',
  'events.view',
  'workspace.view',
  'members.view',
  'members.edit',
  'passwords.reset',
  'tokens.view',
  'tokens.edit',
  'workspace.edit',
  'workspace.export',
  'owners.edit',
  'workspace.delete',
] as const

/** What an actor may be allowed to do in a workspace. */
export type Permission = (typeof PERMISSIONS)[number]

/**
 * What an operation needs: a permission in a workspace, which tokens and people may have; a person who is
 * signed in; a person who operates the instance; or nothing.
 */
export type Access = Permission | 'signed in' | 'operator' | 'open'

/** What each operation of the API needs. Operations have the names of the API description. */
export const OPERATION_ACCESS = {
  'links.list': 'links.view',
  'links.get': 'links.view',
  'links.export': 'links.view',
  'links.checkKey': 'links.view',
  'links.getRules': 'links.view',
  'links.getOptions': 'links.view',
  'links.setOptions': 'links.edit',
  'links.setRules': 'links.edit',
  'links.getHistory': 'links.view',
  'links.revert': 'links.edit',
  'links.explain': 'links.view',
  'links.getExamples': 'links.view',
  'links.setExamples': 'links.edit',
  'links.readPreview': 'links.edit',
  'previews.read': 'links.edit',
  'images.create': 'links.edit',
  'links.getQrCode': 'links.view',
  'links.drawQrCode': 'links.view',
  'links.bulk': 'links.edit',
  'links.create': 'links.edit',
  'links.update': 'links.edit',
  'links.patch': 'links.edit',
  'links.delete': 'links.delete',
  'links.getClicks': 'clicks.view',
  'links.compareVariants': 'clicks.view',
  'links.exportClicks': 'clicks.view',
  'utmTemplates.list': 'links.view',
  'utmTemplates.get': 'links.view',
  'utmTemplates.create': 'links.edit',
  'utmTemplates.update': 'links.edit',
  'utmTemplates.patch': 'links.edit',
  'utmTemplates.delete': 'links.edit',
  'ruleSets.list': 'links.view',
  'ruleSets.get': 'links.view',
  'ruleSets.create': 'links.edit',
  'ruleSets.update': 'links.edit',
  'ruleSets.patch': 'links.edit',
  'ruleSets.delete': 'links.edit',
  'labels.get': 'links.view',
  'labels.update': 'workspace.edit',
  'conversions.list': 'conversions.view',
  'conversions.export': 'conversions.view',
  'conversions.record': 'conversions.record',
  'conversions.getSettings': 'links.view',
  'conversions.updateSettings': 'workspace.edit',
  'tags.list': 'links.view',
  'tags.rename': 'links.edit',
  'tags.delete': 'links.edit',
  'links.getOrigin': 'links.view',
  'imports.list': 'links.view',
  'imports.get': 'links.view',
  'imports.getReport': 'links.view',
  'imports.getColumns': 'links.edit',
  'imports.create': 'links.edit',
  'imports.uploadFile': 'links.edit',
  'imports.start': 'links.edit',
  'imports.revive': 'links.edit',
  'imports.cancel': 'links.edit',
  'domains.list': 'domains.view',
  'domains.get': 'domains.view',
  'domains.getDns': 'domains.view',
  'domains.getHttps': 'domains.view',
  'domains.getSettings': 'domains.view',
  'domains.getDefault': 'domains.view',
  'domains.create': 'domains.edit',
  'domains.verify': 'domains.edit',
  'domains.update': 'domains.edit',
  'domains.patch': 'domains.edit',
  'domains.updateHttps': 'domains.edit',
  'domains.updateSettings': 'domains.edit',
  'domains.patchSettings': 'domains.edit',
  'domains.updateDefault': 'domains.edit',
  'domains.delete': 'domains.edit',
  'domains.getClicks': 'clicks.view',
  'domains.exportClicks': 'clicks.view',
  'clicks.get': 'clicks.view',
  'clicks.getSparklines': 'clicks.view',
  'clicks.export': 'clicks.view',
  'clicks.live': 'clicks.view',
  'workspace.getUsage': 'usage.view',
  'workspace.export': 'workspace.export',
  'events.list': 'events.view',
  'webhooks.list': 'webhooks.view',
  'webhooks.get': 'webhooks.view',
  'webhooks.listAttempts': 'webhooks.view',
  'webhooks.create': 'webhooks.edit',
  'webhooks.patch': 'webhooks.edit',
  'webhooks.delete': 'webhooks.edit',
  'webhooks.rotateSecret': 'webhooks.edit',
  'webhooks.endOldSecret': 'webhooks.edit',
  'webhooks.test': 'webhooks.edit',
  'webhooks.replay': 'webhooks.edit',
  'assistants.list': 'workspace.view',
  'assistants.delete': 'workspace.view',
  'assistants.getSettings': 'workspace.view',
  'assistants.updateSettings': 'workspace.edit',
  'assistants.preview': 'signed in',
  'assistants.create': 'signed in',
  'compat.list': 'workspace.view',
  'compat.update': 'tokens.edit',
  'signIn.getOptions': 'open',
  'setup.complete': 'open',
  'session.create': 'open',
  'session.get': 'signed in',
  'session.delete': 'signed in',
  'session.authenticate': 'signed in',
  'sessions.list': 'signed in',
  'sessions.delete': 'signed in',
  'sessions.deleteOthers': 'signed in',
  'me.get': 'signed in',
  'me.patch': 'signed in',
  'me.setPassword': 'signed in',
  'me.changeEmail': 'signed in',
  'me.confirmEmail': 'signed in',
  'workspaces.list': 'signed in',
  'workspaces.create': 'operator',
  'workspaces.get': 'workspace.view',
  'workspaces.patch': 'workspace.edit',
  'workspaces.delete': 'workspace.delete',
  'workspaces.leave': 'signed in',
  'members.list': 'members.view',
  'members.patch': 'members.edit',
  'members.delete': 'members.edit',
  'members.resetPassword': 'passwords.reset',
  'invitations.list': 'members.view',
  'invitations.create': 'members.edit',
  'invitations.delete': 'members.edit',
  'invitations.lookUp': 'open',
  'invitations.accept': 'open',
  'tokens.list': 'tokens.view',
  'tokens.create': 'tokens.edit',
  'tokens.delete': 'tokens.edit',
  'people.list': 'operator',
  'people.patch': 'operator',
  'people.delete': 'operator',
  'people.resetPassword': 'operator',
  'instance.get': 'operator',
  'instance.diagnose': 'operator',
  'me.startTotp': 'signed in',
  'me.confirmTotp': 'signed in',
  'me.deleteTotp': 'signed in',
  'me.createRecoveryCodes': 'signed in',
  'me.listPasskeys': 'signed in',
  'me.createPasskeyOptions': 'signed in',
  'me.createPasskey': 'signed in',
  'me.patchPasskey': 'signed in',
  'me.deletePasskey': 'signed in',
  'session.createPasskeyOptions': 'open',
  'session.startOidc': 'open',
  'me.linkIdentity': 'signed in',
  'me.unlinkIdentity': 'signed in',
  'passwordResets.request': 'open',
  'passwordResets.lookUp': 'open',
  'passwordResets.complete': 'open',
} as const satisfies Readonly<Record<string, Access>>

export type Operation = keyof typeof OPERATION_ACCESS

/**
 * Operations that need a recent authentication of the person. Where it depends on what is changed, the
 * operation calls `requireRecentAuthentication` itself.
 */
const NEEDS_RECENT_AUTHENTICATION: ReadonlySet<Operation> = new Set<Operation>([
  'me.setPassword',
  'me.changeEmail',
  'workspaces.delete',
  'members.resetPassword',
  'workspace.export',
  'tokens.create',
  'tokens.delete',
  'assistants.create',
  'people.patch',
  'people.delete',
  'people.resetPassword',
  'me.startTotp',
  'me.confirmTotp',
  'me.deleteTotp',
  'me.createRecoveryCodes',
  'me.createPasskeyOptions',
  'me.createPasskey',
  'me.deletePasskey',
  'me.linkIdentity',
  'me.unlinkIdentity',
])

/**
 * The permissions that each scope of a token grants. What a person signs in with, and owners, are the business of people:
 * no scope grants those.
 */
const SCOPE_PERMISSIONS: Readonly<Record<(typeof SCOPES)[number], readonly Permission[]>> = {
  'links:read': ['links.view', 'usage.view', 'workspace.view'],
  'links:write': ['links.edit', 'links.delete'],
  'domains:read': ['domains.view'],
  'domains:write': ['domains.edit'],
  'clicks:read': ['clicks.view'],
  'conversions:read': ['conversions.view'],
  'conversions:write': ['conversions.record'],
  'webhooks:read': ['webhooks.view'],
  'webhooks:write': ['webhooks.edit'],
  'workspace:admin': [
    'events.view',
    'members.view',
    'members.edit',
    'tokens.view',
    'tokens.edit',
    'workspace.edit',
    'workspace.export',
  ],
}

/**
 * What a person may let an assistant do. The names are scopes of OAuth, not of tokens: deletion is apart, so that a person
 * can withhold it.
 */
export const ASSISTANT_PERMISSIONS = {
  'links:read': ['links.view', 'domains.view', 'workspace.view'],
  'clicks:read': ['clicks.view', 'conversions.view'],
  // Who changes a link finds it first.
  'links:write': ['links.view', 'links.edit'],
  'links:delete': ['links.view', 'links.delete'],
} as const satisfies Readonly<Record<string, readonly Permission[]>>

/** The permissions that each role adds to the roles before it. */
const ADDED_BY_ROLE: Readonly<Record<Role, readonly Permission[]>> = {
  viewer: [
    ...(['links.view', 'domains.view', 'clicks.view', 'conversions.view'] as const),
    ...(['usage.view', 'workspace.view'] as const),
  ],
  member: ['links.edit', 'links.delete', 'conversions.record'],
  admin: [
    'domains.edit',
    'webhooks.view',
    'webhooks.edit',
    'events.view',
    'members.view',
    'members.edit',
    'passwords.reset',
    'tokens.view',
    'tokens.edit',
    'workspace.edit',
    'workspace.export',
  ],
  owner: ['owners.edit', 'workspace.delete'],
}

const ROLE_PERMISSIONS: ReadonlyMap<Role, ReadonlySet<Permission>> = new Map(
  ROLES.map((role, index) => [
    role,
    new Set(ROLES.slice(0, index + 1).flatMap((each) => ADDED_BY_ROLE[each])),
  ]),
)

export const ALL_PERMISSIONS: ReadonlySet<Permission> = new Set(PERMISSIONS)

/** What a client of another service may do, through the API of that service. */
export const COMPAT_PERMISSIONS: ReadonlySet<Permission> = new Set([
  ...(['links.view', 'links.edit', 'links.delete'] as const),
  ...(['domains.view', 'clicks.view', 'usage.view', 'workspace.view'] as const),
])

export function isCompatScope(scope: Scope): scope is CompatScope {
  return COMPAT_SCOPES.some((each) => each === scope)
}

/** The service whose API a token with this scope is for. */
export function serviceOf(scope: CompatScope): CompatService {
  return scope.slice('compat:'.length) as CompatService
}

/** What a token may do in the API. One for another service may do nothing there. */
export function permissionsOf(scopes: readonly Scope[]): ReadonlySet<Permission> {
  return new Set(scopes.flatMap((scope) => (isCompatScope(scope) ? [] : SCOPE_PERMISSIONS[scope])))
}

/** What a token with this scope can do, in whichever API. */
export function grantedBy(scope: Scope): ReadonlySet<Permission> {
  return isCompatScope(scope) ? COMPAT_PERMISSIONS : permissionsOf([scope])
}

export function permissionsOfRole(role: Role): ReadonlySet<Permission> {
  return ROLE_PERMISSIONS.get(role) ?? new Set()
}

export function isOperation(name: unknown): name is Operation {
  return typeof name === 'string' && Object.hasOwn(OPERATION_ACCESS, name)
}

/** Whether the operation happens in a workspace, so that a token can do it. */
export function isPermission(access: Access): access is Permission {
  return access !== 'signed in' && access !== 'operator' && access !== 'open'
}

/** What an `Actor` has that its access depends on. */
type Holder = {
  readonly kind: 'token' | 'person' | 'system'
  readonly permissions: ReadonlySet<Permission>
  readonly isOperator: boolean
  readonly hasAuthenticatedRecently: boolean
}

/**
 * The only check of permissions.
 *
 * @throws {Failure} `missing_scope` or `missing_role`, naming the scope or the least role that is needed;
 *   `authentication_required`
 */
export function requireAccess(actor: Holder, operation: Operation): void {
  const access: Access = OPERATION_ACCESS[operation]
  if (isPermission(access)) requirePermission(actor, access)
  else if (actor.kind !== 'person') throw Failure.missingRole({ code: 'people_only' })
  else if (access === 'operator' && !actor.isOperator) {
    throw Failure.missingRole({ code: 'operators_only' })
  }
  if (NEEDS_RECENT_AUTHENTICATION.has(operation)) requireRecentAuthentication(actor)
}

/** Whether an operation can be done with a token: by some scope. */
export function takesTokens(access: Access): boolean {
  return isPermission(access) && SCOPES.some((scope) => SCOPE_PERMISSIONS[scope].includes(access))
}

/** @throws {Failure} `missing_scope` or `missing_role` */
export function requirePermission(
  { kind, permissions }: Pick<Holder, 'kind' | 'permissions'>,
  permission: Permission,
): void {
  if (permissions.has(permission)) return
  const role = ROLES.find((each) => permissionsOfRole(each).has(permission)) ?? 'owner'
  if (kind === 'person') {
    throw Failure.missingRole({ code: 'role_needed', reason: role })
  }
  const scope = SCOPES.find((each) => SCOPE_PERMISSIONS[each].includes(permission))
  if (scope === undefined) {
    throw Failure.missingRole({ code: 'person_needed', role })
  }
  throw Failure.missingScope(scope)
}

/** Whether a role allows no more than the actor may do, so that the actor may give and take it. */
export function isWithinRank({ permissions }: Pick<Holder, 'permissions'>, role: Role): boolean {
  return permissionsOfRole(role).isSubsetOf(permissions)
}

/**
 * Checks that the actor may give or take a role: none that allows more than the actor may do. For a role that can give
 * access to others, it needs a recent authentication: who found a session open could stay that way.
 *
 * @throws {Failure} `missing_role` or `authentication_required`; `validation_failed` for an actor with fewer permissions
 */
export function requireRankOver(actor: Holder, role: Role): void {
  if (role === 'owner') requirePermission(actor, 'owners.edit')
  if (!isWithinRank(actor, role)) {
    throw Failure.invalid({ role: [{ code: 'exceeds_rights', reason: 'role' }] })
  }
  const gained = permissionsOfRole(role)
  if (gained.has('members.edit') || gained.has('tokens.edit')) requireRecentAuthentication(actor)
}

/** @throws {Failure} `authentication_required` when a person authenticated too long ago */
export function requireRecentAuthentication({
  hasAuthenticatedRecently,
}: Pick<Holder, 'hasAuthenticatedRecently'>): void {
  if (!hasAuthenticatedRecently) throw Failure.authenticationRequired()
}

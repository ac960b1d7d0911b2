import { Failure } from '../platform/failure.ts'
import { SCOPES, type Scope } from './tokens/scope.ts'

const PERMISSIONS = [
  'links.view',
  'links.edit',
  'domains.view',
  'domains.edit',
  'clicks.view',
  'usage.view',
  'events.view',
] as const

/** What an actor may be allowed to do in a workspace. */
export type Permission = (typeof PERMISSIONS)[number]

/** The permission that each operation of the API needs. Operations have the names of the API description. */
export const OPERATION_PERMISSIONS = {
  'links.list': 'links.view',
  'links.get': 'links.view',
  'links.checkKey': 'links.view',
  'links.getQrCode': 'links.view',
  'links.drawQrCode': 'links.view',
  'links.bulk': 'links.edit',
  'links.create': 'links.edit',
  'links.update': 'links.edit',
  'links.patch': 'links.edit',
  'links.delete': 'links.edit',
  'links.getClicks': 'clicks.view',
  'links.exportClicks': 'clicks.view',
  'tags.list': 'links.view',
  'tags.rename': 'links.edit',
  'tags.delete': 'links.edit',
  'domains.list': 'domains.view',
  'domains.get': 'domains.view',
  'domains.getDns': 'domains.view',
  'domains.getHttps': 'domains.view',
  'domains.create': 'domains.edit',
  'domains.verify': 'domains.edit',
  'domains.update': 'domains.edit',
  'domains.patch': 'domains.edit',
  'domains.updateHttps': 'domains.edit',
  'domains.delete': 'domains.edit',
  'domains.getClicks': 'clicks.view',
  'domains.exportClicks': 'clicks.view',
  'clicks.get': 'clicks.view',
  'clicks.getSparklines': 'clicks.view',
  'clicks.export': 'clicks.view',
  'workspace.getUsage': 'usage.view',
  'events.list': 'events.view',
} as const satisfies Readonly<Record<string, Permission>>

export type Operation = keyof typeof OPERATION_PERMISSIONS

/** The permissions that each scope of a token grants. A role of a person will be such a set too. */
const SCOPE_PERMISSIONS: Readonly<Record<Scope, readonly Permission[]>> = {
  'links:read': ['links.view', 'usage.view'],
  'links:write': ['links.edit'],
  'domains:read': ['domains.view'],
  'domains:write': ['domains.edit'],
  'clicks:read': ['clicks.view'],
  'workspace:admin': ['events.view'],
}

export const ALL_PERMISSIONS: ReadonlySet<Permission> = new Set(PERMISSIONS)

export function permissionsOf(scopes: readonly Scope[]): ReadonlySet<Permission> {
  return new Set(scopes.flatMap((scope) => SCOPE_PERMISSIONS[scope]))
}

export function isOperation(name: unknown): name is Operation {
  return typeof name === 'string' && Object.hasOwn(OPERATION_PERMISSIONS, name)
}

/**
 * The only check of permissions.
 *
 * @throws {Failure} `missing_scope`, naming the scope that grants the permission
 */
export function requirePermission(
  { permissions }: { readonly permissions: ReadonlySet<Permission> },
  operation: Operation,
): void {
  const permission = OPERATION_PERMISSIONS[operation]
  if (permissions.has(permission)) return
  const scope = SCOPES.find((each) => SCOPE_PERMISSIONS[each].includes(permission))
  throw Failure.missingScope(scope ?? permission)
}

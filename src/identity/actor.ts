import type { CompatService } from '@terse/contract/compat-services'
import { INSTANCE } from '../storage/event-log.ts'
import type { Person } from './people/person.ts'
import {
  ALL_PERMISSIONS,
  isCompatScope,
  type Permission,
  permissionsOf,
  permissionsOfRole,
  serviceOf,
} from './permissions.ts'
import type { Membership } from './store/membership-store.ts'
import type { Token } from './store/token-store.ts'

/** Who performs an operation, in which workspace, and with which permissions. */
export type Actor = {
  /** `system` is a part of the service itself, or its operator at the command line. */
  readonly kind: 'token' | 'person' | 'system'
  /** The identifier of the token or person; null for `system`. */
  readonly id: string | null
  /** For people: the name of the token or person, or which part of the service it is. */
  readonly name: string
  /** `INSTANCE` for an operation outside of workspaces. */
  readonly workspaceId: string
  readonly permissions: ReadonlySet<Permission>
  /** Whether a person operates the instance; false for others. */
  readonly isOperator: boolean
  /** Whether a person proved within the last minutes who they are; true for others. */
  readonly hasAuthenticatedRecently: boolean
  /** The session of a person's request; null for others. */
  readonly sessionId: string | null
  /** The service whose API a token is for, and no other; absent for all others. */
  readonly compat?: CompatService
  /** The HTTP request that asked for the operation, as the log names it; null where there was none. */
  readonly requestId: string | null
}

/** An actor that may act in any workspace. */
export type ActorIn = (workspaceId: string) => Actor

export function tokenActor(token: Token): Actor {
  const other = token.scopes.find(isCompatScope)
  return {
    kind: 'token',
    id: token.id,
    name: token.name,
    workspaceId: token.workspace_id,
    ...(other !== undefined && { compat: serviceOf(other) }),
    permissions: permissionsOf(token.scopes),
    isOperator: false,
    hasAuthenticatedRecently: true,
    sessionId: null,
    requestId: null,
  }
}

/** @param membership undefined outside of workspaces */
export function personActor(
  person: Person,
  membership: Pick<Membership, 'workspace_id' | 'role'> | undefined,
  hasAuthenticatedRecently: boolean,
): Actor {
  return {
    kind: 'person',
    id: person.id,
    name: person.name,
    workspaceId: membership?.workspace_id ?? INSTANCE,
    permissions: membership === undefined ? new Set() : permissionsOfRole(membership.role),
    isOperator: person.is_operator,
    hasAuthenticatedRecently,
    sessionId: null,
    requestId: null,
  }
}

export function systemActor(name: string): ActorIn {
  return (workspaceId) => ({
    kind: 'system',
    id: null,
    name,
    workspaceId,
    permissions: ALL_PERMISSIONS,
    isOperator: false,
    hasAuthenticatedRecently: true,
    sessionId: null,
    requestId: null,
  })
}

export const commandLine: ActorIn = systemActor('command line')

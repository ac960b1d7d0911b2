import { ALL_PERMISSIONS, type Permission, permissionsOf } from './permissions.ts'
import type { Token } from './tokens/token.ts'

/** Who performs an operation, in which workspace, and with which permissions. */
export type Actor = {
  /** `system` is a part of the service itself, or its operator at the command line. */
  readonly kind: 'token' | 'person' | 'system'
  /** The token's identifier; null for `system`. */
  readonly id: string | null
  /** For people: the token's name, or which part of the service it is. */
  readonly name: string
  readonly workspaceId: string
  readonly permissions: ReadonlySet<Permission>
  /** The HTTP request that asked for the operation, as the log names it; null where there was none. */
  readonly requestId: string | null
}

/** An actor that may act in any workspace. */
export type ActorIn = (workspaceId: string) => Actor

export function tokenActor(token: Token): Actor {
  return {
    kind: 'token',
    id: token.id,
    name: token.name,
    workspaceId: token.workspace_id,
    permissions: permissionsOf(token.scopes),
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
    requestId: null,
  })
}

export const commandLine: ActorIn = systemActor('command line')

import type { Scope } from './scope.ts'

export type Token = {
  readonly id: string
  readonly workspace_id: string
  readonly name: string
  readonly scopes: readonly Scope[]
  /** Microseconds since the epoch, as are all times here. */
  readonly created_at: number
  readonly expires_at: number | null
  readonly last_used_at: number | null
  readonly revoked_at: number | null
}

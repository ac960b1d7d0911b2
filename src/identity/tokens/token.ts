import type { Scope } from './scope.ts'

/** Later microseconds are not exact as a number, and SQLite refuses to return them. */
export const EXPIRY_MILLIS_MAX = Date.UTC(2255, 0) - 1

export type Token = {
  readonly id: string
  readonly workspace_id: string
  readonly name: string
  readonly scopes: readonly Scope[]
  /** Microseconds since the epoch, as are all times here. */
  readonly created_at: number
  /** The person who created it; null for a token of the command line, or of another token. */
  readonly created_by: string | null
  readonly expires_at: number | null
  readonly last_used_at: number | null
  readonly revoked_at: number | null
}

/** A token with the name of the person who created it; null where there is none. */
export type NamedToken = { readonly token: Token; readonly creatorName: string | null }

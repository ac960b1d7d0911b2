import { versionOf } from '../platform/version.ts'

export type DomainStatus = 'pending' | 'active'

/** A workspace's entry for a host. Several workspaces may have one; at most one of them is active. */
export type Domain = {
  readonly id: string
  readonly workspace_id: string
  /** Lower-case, in A-label form. */
  readonly host: string
  readonly status: DomainStatus
  readonly not_found_url: string | null
  readonly expired_url: string | null
  /** Microseconds since the epoch. */
  readonly created_at: number
  /** Microseconds since the epoch; increases with every update. */
  readonly updated_at: number
}

/** Identifies the state of everything that a write can change, for `If-Match`. */
export function domainVersion({ id, updated_at }: Domain): string {
  return versionOf(id, updated_at)
}

/** Identifies which domain is the default one of its workspace, for `If-Match`. */
export function defaultVersion(domain: Domain | undefined): string {
  return versionOf(domain?.host ?? null)
}

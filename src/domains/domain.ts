import { versionOf } from '../platform/version.ts'

export type DomainStatus = 'pending' | 'active'

/** A workspace's claim on a host name. Several may claim one; one claim at most is active. */
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
  /** Microseconds since the epoch; rises with every update. */
  readonly updated_at: number
}

/** Names the state of a domain. */
export function domainVersion({ id, updated_at }: Domain): string {
  return versionOf(id, updated_at)
}

import type { Role } from '@terse/contract/roles'

/** A link with a secret code that works once: for set-up, an invitation or a new password. */
export type OneTimeLink = {
  readonly id: string
  readonly kind: 'setup' | 'invitation' | 'reset'
  /** Of `reset`: whose password it sets. */
  readonly person_id: string | null
  /** Of `invitation`: to whom, into which workspace and with which role. */
  readonly email: string | null
  readonly email_folded: string | null
  readonly workspace_id: string | null
  readonly role: Role | null
  /** The name of who made it. */
  readonly created_by: string | null
  /** Microseconds since the epoch, as are all times here. */
  readonly created_at: number
  readonly expires_at: number
  readonly used_at: number | null
}

export type OneTimeLinkKind = OneTimeLink['kind']

/** What links have that are not about one person or workspace. */
export const NO_SUBJECT = {
  person_id: null,
  email: null,
  email_folded: null,
  workspace_id: null,
  role: null,
} as const

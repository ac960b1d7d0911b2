/** The tables of people, as queries see them. Times are microseconds since the epoch. */
export type PeopleTables = {
  /** Programs that people let work in their name. */
  assistants: {
    id: string
    workspace_id: string
    person_id: string
    client_id: string
    client_name: string
    /** Separated by spaces. */
    scopes: string
    created_at: number
    expires_at: number
    last_used_at: number | null
  }
  assistant_secrets: {
    hash: string
    assistant_id: string
    kind: 'code' | 'access' | 'refresh'
    expires_at: number
    used_at: number | null
    redirect_uri: string | null
    challenge: string | null
  }
  /** Which APIs of other services a workspace answers. */
  compat_settings: { workspace_id: string; service: string }
  /** Secrets of tokens, sealed, for clients that send a hash of them. */
  compat_secrets: { token_id: string; sealed: string }
  /** 0 or 1; a workspace without a row has 1. */
  assistant_settings: { workspace_id: string; is_enabled: number }
  /** Programs that have registered themselves. */
  oauth_clients: {
    id: string
    name: string
    /** A JSON array. */
    redirect_uris: string
    created_at: number
  }
  people: {
    id: string
    email: string
    /** Unique. */
    email_folded: string
    name: string
    /** 0 or 1. */
    is_operator: number
    created_at: number
    disabled_at: number | null
    /** Null until the person has shown that the address is theirs. */
    email_proved_at: number | null
  }
  /** People who were deleted, until they are erased from the event log. */
  deleted_people: {
    id: string
    email_folded: string
    deleted_at: number
    /** The number up to which this pass has looked through the events. */
    events_until: number
    /** The pass as JSON (identity/store/erasure-store.ts); null before the first. */
    events_pass: string | null
  }
  passwords: {
    person_id: string
    /** Sealed (platform/passwords/password-vault.ts). */
    sealed_hash: string
    /** 1 when it is long enough without a second factor, else 0. */
    is_long: number
    changed_at: number
  }
  passkeys: {
    id: string
    person_id: string
    credential_id: string
    public_key: string
    counter: number
    /** Separated by spaces. */
    transports: string
    name: string
    created_at: number
    last_used_at: number | null
    /** 1 when it is a second factor only, else 0. */
    needs_password: number
  }
  totp: {
    person_id: string
    /** Sealed (second-factors/factor-checks.ts); null until the person has sent a first code. */
    sealed_secret: string | null
    /** Sealed; takes effect when the person sends a code of it. */
    pending_secret: string | null
    confirmed_at: number | null
    /** The last time step of which a code was used. */
    last_step: number
  }
  recovery_codes: { person_id: string; hash: string; used_at: number | null }
  identities: { issuer: string; subject: string; person_id: string; created_at: number }
  memberships: {
    workspace_id: string
    person_id: string
    role: 'viewer' | 'member' | 'admin' | 'owner'
    created_at: number
    /** Null for one from before the column. */
    source: 'hand' | 'groups' | null
    /** When the provider last confirmed one from groups. */
    confirmed_at: number | null
  }
  /** Which workspace a name in TERSE_OIDC_ROLES means. */
  group_bindings: {
    name: string
    /** Null once the workspace was deleted. */
    workspace_id: string | null
    bound_at: number
  }
  sessions: {
    id: string
    /** SHA-256 of the secret in the cookie. */
    hash: string
    person_id: string
    device: string
    created_at: number
    authenticated_at: number
    last_seen_at: number
  }
  /** Set-up codes, invitations and password resets. */
  one_time_links: {
    id: string
    /** SHA-256 of the code. */
    hash: string
    /** The same of the code that went by mail to the person alone. */
    mailed_hash: string | null
    kind: 'setup' | 'invitation' | 'reset' | 'email'
    person_id: string | null
    email: string | null
    email_folded: string | null
    workspace_id: string | null
    role: 'viewer' | 'member' | 'admin' | 'owner' | null
    /** The name of who made it. */
    created_by: string | null
    created_by_kind: 'token' | 'person' | 'system' | null
    /** The token or person; null for `system`. */
    created_by_id: string | null
    created_at: number
    expires_at: number
    used_at: number | null
  }
  /** Challenges of passkeys and states of single sign-on that were redeemed, until they expire. */
  used_challenges: { hash: string; expires_at: number }
}

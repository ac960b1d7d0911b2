import type { Generated } from 'kysely'
import type { Change } from '../changes/change.ts'

/**
 * The tables, as queries see them. Times are microseconds since the epoch unless a name says else.
 *
 * The values of a column are written out here, because modules own the types of them: where a store
 * reads or writes the column, the compiler compares the two.
 */
export type Schema = {
  instance: { name: string; value: string }
  workspaces: { id: string; name: string; created_at: number }
  tokens: {
    id: string
    workspace_id: string
    name: string
    hash: string
    /** Separated by spaces. */
    scopes: string
    created_at: number
    expires_at: number | null
    last_used_at: number | null
    revoked_at: number | null
  }
  /** Null where the instance's limit applies; 0 for no limit. */
  workspace_quotas: {
    workspace_id: string
    links: number | null
    domains: number | null
    pending_domains: number | null
    storage_bytes: number | null
    requests_per_minute: number | null
  }
  keyspaces: {
    id: Generated<number>
    /** Null for the one that all workspaces share. */
    workspace_id: string | null
    host: string
  }
  domains: {
    id: string
    workspace_id: string
    host: string
    status: 'pending' | 'active'
    not_found_url: string | null
    expired_url: string | null
    created_at: number
    updated_at: number
  }
  /** When each claim is checked. A row goes with its claim. */
  domain_checks: {
    domain_id: string
    /** Of the claim; empty where a node of an earlier release inserted the row. */
    workspace_id: Generated<string>
    since: number
    attempts: number
    next_at: number | null
    missing_since: number | null
    checked_at: number | null
    demanded_at: number | null
    /** Rises with every lease, and with every change that makes a check under way void. */
    fence: number
    lease_until: number | null
  }
  /** Which domains ask browsers to use HTTPS alone. A row goes with its claim. */
  domain_hsts: { domain_id: string; max_age: number }
  /** The certificate in use of each host. */
  certificates: {
    host: string
    /** PEM, the host's own first. */
    chain: string
    /** Sealed (key-vault.ts). */
    private_key: string
    not_before: number
    not_after: number
    /** The address of the directory of the authority that issued it (RFC 8555, section 7.1.1). */
    directory: string
    /** What the authority advises on renewal (RFC 9773); null where it has not. */
    ari_id: string | null
    renewal_start: number | null
    renewal_end: number | null
    created_at: number
    updated_at: number
  }
  /** What is to be done about the certificate of each host that is to have one. */
  certificate_orders: {
    host: string
    /** In which the host is active; empty for the service's own host. */
    workspace_id: Generated<string>
    queue: Generated<'ready' | 'new' | 'failing'>
    attempts: number
    next_at: number
    failure: string | null
    /** The order under way: all four are null while there is none, the last until it is confirmed. */
    directory: string | null
    purpose: 'first' | 'renewal' | 'advised' | null
    private_key: string | null
    order_url: string | null
    challenge_type: 'http-01' | 'tls-alpn-01' | null
    challenge_token: string | null
    challenge_answer: string | null
    /** Rises with every lease. */
    fence: number
    lease_until: number | null
  }
  /** By the address of the authority's directory. */
  acme_accounts: {
    directory: string
    private_key: string
    url: string | null
    failures: number
    paused_until: number
    failure: string | null
    challenge: 'http-01' | 'tls-alpn-01' | null
    created_at: number
  }
  acme_budgets: { directory: string; subject: string; spent_until: number }
  links: {
    seq: Generated<number>
    id: string
    workspace_id: string
    keyspace_id: number
    key: string
    key_folded: string
    url: string
    ios: string | null
    android: string | null
    utm_source: string | null
    utm_medium: string | null
    utm_campaign: string | null
    utm_term: string | null
    utm_content: string | null
    utm_name: string | null
    external_id: number | null
    password: string | null
    expires_at: string | null
    expired_redirect_url: string | null
    /** A JSON array of strings, in the order in which they were given. */
    tags: string
    created_at: number
    updated_at: number
  }
  /** How many links a workspace has in each run of `LINKS_PER_BUCKET` sequence numbers. */
  link_buckets: {
    workspace_id: string
    bucket: number
    links: number
    /** Of their texts (stored-bytes.ts). */
    bytes: Generated<number>
  }
  link_tags: { workspace_id: string; tag: string; tag_folded: string; link_seq: number }
  /** Without a row: never clicked by a person. */
  link_clicks: { link_seq: number; clicks: number; last_click: number }
  /** PostgreSQL alone, a partition for each UTC day; SQLite keeps raw clicks in files of their own. */
  clicks: {
    /** In the order in which they were taken in. */
    id: Generated<number>
    at: number
    link_seq: number
    /** Null where the link was deleted before its click was taken in. */
    workspace_id: string | null
    keyspace_id: number | null
    flags: number
    count: Generated<number>
    visitor: number
    country: string
    device: string
    os: string
    browser: string
    referrer: string
    language: string
    source: string
  }
  /** What has been counted of one subject on one UTC day (click-day-folder.ts, day-codec.ts). */
  click_days: {
    day: number
    /** One of `SCOPES`. */
    scope: number
    subject: number
    workspace_id: string
    /** One of `PARTS`. */
    part: number
    /** Of the recent part: the bytes of `data` that the last folding has left. */
    folded: number
    /** Of the recent part: the bytes of all other parts; 0 while there are none. */
    parts: number
    data: Uint8Array
  }
  /** Days with other parts, whose recent part has not been added to them for good. */
  unsettled_days: { day: number; scope: number; subject: number; workspace_id: string }
  /** Of UTC days, by their number since 1970-01-01. */
  visitor_salts: { day: number; salt: string }
  journal_positions: { journal_id: string; segment: number; position: number; updated_at: number }
  nodes: {
    /** The journal's. */
    id: string
    name: string
    process: number
    version: string
    started_at: number
    beat_at: number
    backlog_bytes: number
    oldest_click_at: number | null
    /** When its loss was told; null for one that is there, or whose loss nobody has seen yet. */
    reported_at: number | null
  }
  changes: { id: Generated<number>; at: number; kind: Change['kind']; subject: string }
  idempotency: {
    workspace_id: string
    idempotency_key: string
    fingerprint: string
    result: string
    created_at: number
  }
  schema_migrations: {
    version: number
    name: string
    applied_at: number
    /** As in `Migration`. */
    served_from: number
  }
}

export const LINKS_PER_BUCKET = 1024

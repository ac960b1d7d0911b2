import type { LinkOptions, LinkTexts, UtmField } from '@terse/contract/link-fields'
import type { Generated } from 'kysely'
import type { Change } from './changes.ts'
import type { ClickSpoolTables, ImportTables } from './import-tables.ts'
import type { Managed } from './managed.ts'
import type { PeopleTables } from './people-tables.ts'
import type { WebhookTables } from './webhook-tables.ts'

type RawClickTable = {
  /** In the order of ingestion. */
  id: Generated<number>
  at: number
  link_seq: number
  /** Null when the link was deleted before its click was ingested. */
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
  rule: Generated<string>
  variant: Generated<string>
  label: Generated<string>
  region: Generated<string>
  city: Generated<string>
}

/**
 * The tables, as queries see them. Times are microseconds since the epoch unless a name says
 * otherwise.
 *
 * Column values are written out here because modules own their types. Where a store reads or writes
 * a column, the compiler compares the two.
 */
export type Schema = PeopleTables &
  ClickSpoolTables &
  ImportTables &
  WebhookTables & {
    instance: { name: string; value: string }
    workspaces: {
      id: string
      name: string
      title: string | null
      created_at: number
      deleted_at: number | null
      removed_at: number | null
    }
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
      /** The person who created it. */
      created_by: string | null
    }
    /** Null: the instance's default applies. 0: no limit. */
    workspace_quotas: {
      workspace_id: string
      links: number | null
      domains: number | null
      pending_domains: number | null
      storage_bytes: number | null
      requests_per_minute: number | null
      conversions: number | null
    }
    keyspaces: {
      id: Generated<number>
      /** Null for the keyspace that all workspaces share. */
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
    /** The domain on which new links of a workspace start. Deleted with the claim. */
    default_domains: { workspace_id: string; domain_id: string }
    /** How visits get labels, of workspaces that have set it or are older than labels. */
    label_settings: {
      workspace_id: string
      /** Null for no labels. */
      parameter: string | null
      /** A JSON array. */
      labels: string
    }
    /** Labels that are counted by themselves without being listed (known-labels.ts). */
    known_labels: {
      workspace_id: string
      label: string
      /** The last UTC day on which clicks with it were ingested. */
      day: number
    }
    /** How conversions are counted, of workspaces that have set it. */
    conversion_settings: {
      workspace_id: string
      /** 0 or 1. */
      track_conversions: number
      parameter: string
      window_days: number
    }
    /** Conversions that customers have reported. */
    conversions: {
      id: string
      workspace_id: string
      link_seq: number
      event: string
      /** In minor units of the currency; null for a conversion without a value. */
      value: number | null
      currency: string | null
      occurred_at: number
      recorded_at: number
      /** Of the visit, from its token, as are the six below. */
      clicked_at: number
      visit: number
      country: string
      rule: string
      variant: string
      label: string
      /** A digest of the customer's key; null for none. */
      idempotency_key: string | null
      /** A digest of what was sent with the key. */
      fingerprint: string | null
    }
    /** How many conversions a workspace has. */
    conversion_counts: { workspace_id: string; conversions: number }
    /** The check schedule of each claim. Deleted with the claim. */
    domain_checks: {
      domain_id: string
      /** The claim's workspace; empty where a node of an earlier release inserted the row. */
      workspace_id: Generated<string>
      since: number
      attempts: number
      next_at: number | null
      missing_since: number | null
      checked_at: number | null
      demanded_at: number | null
      /**
       * The result of the last check; null before the first one, and after the domain was renamed
       * or lost.
       */
      verdict: 'proved' | 'unproved' | 'unknown' | null
      /** Incremented by each lease, and by each change that invalidates a running check. */
      fence: number
      lease_until: number | null
    }
    /** The HSTS settings of domains. Deleted with the claim. */
    domain_hsts: { domain_id: string; max_age: number }
    /** Settings of domains besides what the specification has. Deleted with the claim. */
    domain_settings: Managed & {
      domain_id: string
      workspace_id: string
      root_url: string | null
      robots: 'noindex' | 'index' | 'disallow' | null
      /** The three below are JSON. */
      utm: string | null
      apple_app_site_association: string | null
      assetlinks: string | null
      rule_set: string | null
      /** 0 or 1; null for what the workspace has. */
      track_conversions: number | null
      updated_at: number
    }
    /** The current certificate of each host. */
    certificates: {
      host: string
      /** PEM, leaf certificate first. */
      chain: string
      /** Sealed (account-manager.ts). */
      private_key: string
      not_before: number
      not_after: number
      /** The address of the directory of the authority that issued it (RFC 8555, section 7.1.1). */
      directory: string
      /** The authority's renewal information (RFC 9773); null when there is none. */
      ari_id: string | null
      renewal_start: number | null
      renewal_end: number | null
      created_at: number
      updated_at: number
    }
    /** The certificate order, or its next attempt, of each host that needs a certificate. */
    certificate_orders: {
      host: string
      /** The workspace in which the host is active; empty for the service's own host. */
      workspace_id: Generated<string>
      queue: Generated<'ready' | 'new' | 'failing'>
      attempts: number
      next_at: number
      failure: string | null
      /**
       * The current order. All four columns are null while there is none; `order_url` also until the
       * order is confirmed.
       */
      directory: string | null
      purpose: 'first' | 'renewal' | 'advised' | null
      private_key: string | null
      order_url: string | null
      challenge_type: 'http-01' | 'tls-alpn-01' | null
      challenge_token: string | null
      challenge_answer: string | null
      /** Incremented by each lease. */
      fence: number
      lease_until: number | null
    }
    /** One account per directory URL of an authority. */
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
    links: LinkTexts &
      Omit<LinkOptions, 'archived' | 'track_conversions' | 'prevent_delete'> &
      Managed & {
        seq: Generated<number>
        id: string
        workspace_id: string
        keyspace_id: number
        key: string
        key_folded: string
        url: string
        external_id: number | null
        /** A JSON array of strings, in the order in which they were given. */
        tags: string
        /** JSON */
        rules: string | null
        /** JSON */
        examples: string | null
        /** 0 or 1 */
        archived: number
        /** 0 or 1; null for what the domain has. */
        track_conversions: number | null
        /** 0 or 1 */
        prevent_delete: number
        /** Of an uploaded image that `image` names (previews/image-name.ts). */
        image_hash: string | null
        created_at: number
        updated_at: number
      }
    utm_templates: Pick<LinkTexts, UtmField> &
      Managed & {
        id: string
        workspace_id: string
        name: string
        name_folded: string
        created_at: number
        updated_at: number
      }
    rule_sets: Managed & {
      id: string
      workspace_id: string
      name: string
      name_folded: string
      /** A JSON array of rules. */
      rules: string
      created_at: number
      updated_at: number
    }
    /** Uploaded images, by the SHA-256 of their bytes. */
    images: {
      workspace_id: string
      hash: string
      type: string
      width: number
      height: number
      bytes: number
      /** When it was last uploaded, or found to be used. */
      used_at: number
    }
    image_data: { hash: string; workspace_id: string; data: Uint8Array }
    /** The number of a workspace's links in each range of `LINKS_PER_BUCKET` sequence numbers. */
    link_buckets: {
      workspace_id: string
      bucket: number
      links: number
      /** How many of them are archived. */
      archived: Generated<number>
      /** The size of the links' texts (link.ts). */
      bytes: Generated<number>
    }
    /** Links that were deleted, until their counts are erased. */
    deleted_links: { link_seq: number; workspace_id: string; deleted_at: number }
    link_tags: { workspace_id: string; tag: string; tag_folded: string; link_seq: number }
    /** A link without a row was never clicked by a person. */
    link_clicks: { link_seq: number; clicks: number; last_click: number }
    /**
     * How many clicks of a link with a limit (`max_clicks`) a journal's process may answer, and how many it has had for
     * that in all (clicks/limits/click-limits.ts).
     */
    click_leases: {
      link_seq: number
      journal_id: string
      /** Clicks that the process was ever given, less those that it has returned. */
      granted: number
      /** How many of them it has not taken, at most. */
      held: number
      updated_at: number
    }
    /** Limits of links (`max_clicks`) that are known to be reached. */
    reached_limits: { link_seq: number; max_clicks: number }
    /** Ingested clicks of a journal that took one of a link's limit. */
    leased_clicks: { link_seq: number; journal_id: string; spent: number }
    /** PostgreSQL only, one partition per UTC day. SQLite keeps raw clicks in separate files. */
    clicks: RawClickTable
    /** Raw clicks that came back from a ClickHouse, kept in the same way. */
    returned_clicks: RawClickTable & { origin: number }
    /** The counts of one subject on one UTC day (fold-days.ts, day-format.ts). */
    click_days: {
      day: number
      /** One of `SCOPES`. */
      scope: number
      subject: number
      workspace_id: string
      /** One of `PARTS`. */
      part: number
      /** Recent part only: the size of `data` after the last folding, in bytes. */
      folded: number
      /** Recent part only: the size of all other parts, in bytes; 0 while there are none. */
      parts: number
      data: Uint8Array
    }
    /** What came back from a ClickHouse and is in `click_days` (returned-days.ts). */
    returned_tallies: {
      day: number
      scope: number
      subject: number
      workspace_id: string
      /** Identifies the ClickHouse. */
      origin: number
      persons: number
      others: number
      /** As in a chunk of `click_days`, with all values. */
      data: Uint8Array
    }
    /** Days of a ClickHouse that came back. */
    returned_days: {
      origin: number
      day: number
      /** What the day was like in ClickHouse. */
      mark: string
    }
    /** Days with other parts whose recent part has not been merged into them for the last time. */
    unsettled_days: { day: number; scope: number; subject: number; workspace_id: string }
    /** One salt per UTC day, numbered from 1970-01-01. */
    visitor_salts: { day: number; salt: string }
    /** Batches that are being written to ClickHouse (clicks/store/click-intents.ts). */
    click_intents: {
      journal_id: string
      /** -1 for the beginning of the journal, as `from_position`. */
      from_segment: number
      from_position: number
      to_segment: number
      to_position: number
      begun_at: number
    }
    journal_positions: { journal_id: string; segment: number; position: number; updated_at: number }
    nodes: {
      /** The journal's id. */
      id: string
      name: string
      process: number
      version: string
      started_at: number
      beat_at: number
      backlog_bytes: number
      oldest_click_at: number | null
      untrusted_proxy: string | null
      /** When its loss was reported; null while the node is up or its loss is not yet reported. */
      reported_at: number | null
    }
    /** On PostgreSQL the table also has `transaction_id`. */
    events: {
      id: Generated<number>
      at: number
      /** `workspaceNumber`. */
      workspace: number
      author: number
      request_id: string | null
      type: string
      subject_id: string
      /** As JSON. */
      before_fields: string | null
      after_fields: string | null
    }
    /** Rows are never changed, except that a deleted person is taken out. */
    event_authors: {
      number: number
      workspace_id: string
      kind: 'token' | 'person' | 'system'
      actor_id: string | null
      name: string
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

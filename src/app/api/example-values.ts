import type { BulkLinksAnswer } from '@terse/contract/bulk-links'
import type { ClickReportResource, ExportedClick } from '@terse/contract/clicks'
import {
  fromFields,
  TEXTS_AFTER_COUNTERS,
  TEXTS_BEFORE_COUNTERS,
  UTM_FIELDS,
} from '@terse/contract/link-fields'
import { ASSISTANT_EXAMPLES } from './example-assistants.ts'
import { INCLUDED_EXAMPLE, SMART_LINK_EXAMPLES } from './example-smart-links.ts'
import { WEBHOOK_EXAMPLES } from './example-webhooks.ts'

/** One story for all examples: Ada's workspace `acme`, its domain and a link on it. */
export const WORKSPACE = '01a1f86c-3f0a-7c21-9b1e-5d0c8a4f7e11'
export const DOMAIN = '01a1f86c-52b7-7f4e-8a36-0c9d1e2f3a45'
export const LINK = '01a1f874-6d1c-7b93-a2f4-7e5b9c0d1a22'
const ADA = '01a1f86a-1b2c-7d3e-8f40-a1b2c3d4e5f6'
export const GRACE = '01a1f88a-9c8b-7a6d-95e4-f3a2b1c0d9e8'
export const TOKEN = '01a1f880-0a1b-7c2d-8e3f-4a5b6c7d8e9f'
export const OTHER = '01a1f890-2f3e-7d4c-9b5a-6978f8e7d6c5'

const MADE = '2026-11-20T10:06:50.363298Z'
const CHANGED = '2026-11-21T08:15:02.190512Z'
const SEEN = '2026-11-22T18:40:00.000000Z'
const LATER = '2026-11-29T18:40:00.000000Z'

const UTM = {
  ...fromFields(UTM_FIELDS, () => null),
  ...{ utm_source: 'newsletter', utm_medium: 'email', utm_campaign: 'spring' },
}

const link = {
  id: LINK,
  workspace_id: WORKSPACE,
  domain: 'go.example.com',
  key: 'spring',
  url: 'https://example.com/sale',
  link: 'https://go.example.com/spring',
  ...fromFields(TEXTS_BEFORE_COUNTERS, () => null),
  ...UTM,
  clicks: 3,
  last_click: 1_795_169_210,
  external_id: 42,
  ...fromFields(TEXTS_AFTER_COUNTERS, () => null),
  expires_at: '2027-01-01T00:00:00.000000Z',
  tags: ['spring', 'print'],
  created_at: MADE,
  updated_at: CHANGED,
}

const { workspace_id: _, password: __, ...othersOfLink } = { ...link, protected: false }
export const exportedLink = othersOfLink

const domain = {
  id: DOMAIN,
  workspace_id: WORKSPACE,
  domain: 'go.example.com',
  status: 'active',
  not_found_url: 'https://example.com/',
  expired_url: null,
  created_at: MADE,
  updated_at: CHANGED,
}

const checks = {
  last_check_at: CHANGED,
  next_check_at: '2026-11-21T14:15:02.190512Z',
  missing_since: null,
  pending_from: null,
}

const certificate = {
  valid_from: '2026-11-20T09:10:00.000000Z',
  valid_until: '2027-02-18T09:10:00.000000Z',
}

const click = {
  at: SEEN,
  link_id: LINK,
  domain: 'go.example.com',
  key: 'spring',
  country: 'DE',
  device: 'mobile',
  os: 'iOS',
  browser: 'Safari',
  referrer: 'news.example.org',
  language: 'de',
  source: 'direct',
  flags: [],
  count: 1,
  rule: 'phones',
  variant: 'B',
  label: 'newsletter',
  region: null,
  city: null,
  id: 'gsv3k0y1z7-19ab2cd',
}

export const exportedClick: ExportedClick = { ...click, visitor: '8d1f0a6b' }

const report: ClickReportResource = {
  from: '2026-11-20T00:00:00.000000+01:00',
  to: '2026-11-22T00:00:00.000000+01:00',
  timezone: 'Europe/Berlin',
  interval: 'day',
  counted_until: null,
  opening: 0,
  group_by: null,
  total: { clicks: 3, bots: 1, visitors: 2 },
  data: [
    { start: '2026-11-20T00:00:00.000000+01:00', clicks: 3, visitors: 2 },
    { start: '2026-11-21T00:00:00.000000+01:00', clicks: 0, visitors: 0 },
  ],
}

const bulk: BulkLinksAnswer = {
  action: 'delete',
  done: true,
  succeeded: 1,
  failed: 1,
  pending: 0,
  results: [
    {
      index: 0,
      status: 'succeeded',
      id: LINK,
      link: 'https://go.example.com/spring',
      before: null,
      error: null,
    },
    {
      index: 1,
      status: 'failed',
      id: OTHER,
      link: null,
      before: null,
      error: { message: 'Link not found.', code: 'not_found' },
    },
  ],
}

const person = {
  id: ADA,
  email: 'ada@example.com',
  name: 'Ada Lovelace',
  is_operator: true,
  is_email_proved: true,
  created_at: MADE,
}

const token = {
  id: TOKEN,
  name: 'CI',
  scopes: ['links:read', 'links:write'],
  created_by: { id: ADA, name: 'Ada Lovelace' },
  created_at: MADE,
  expires_at: null,
  last_used_at: SEEN,
}

const invitation = {
  id: OTHER,
  email: 'grace@example.com',
  role: 'member',
  invited_by: 'Ada Lovelace',
  created_at: SEEN,
  expires_at: LATER,
}

const workspace = {
  id: WORKSPACE,
  name: 'acme',
  title: 'Acme',
  role: 'owner',
  created_at: MADE,
}
const identity = { id: OTHER, issuer: 'https://id.example.com', linked_at: CHANGED }
const passkey = { id: OTHER, name: 'Laptop', created_at: CHANGED }

const importing = {
  id: OTHER,
  source: 'csv',
  status: 'succeeded',
  dry_run: false,
  domains: { 'old.example': 'go.example.com' },
  on_conflict: 'skip',
  timezone: 'Europe/Berlin',
  time_zone: 'Europe/Berlin',
  columns: {},
  ignored_columns: [],
  needs_file: true,
  file_bytes: 48_211,
  file_columns: ['Short link', 'Long URL', 'Clicks'],
  file_fields: { key: 'Short link', url: 'Long URL', clicks: 'Clicks' },
  links_expected: 120,
  rows_done: 120,
  counts: {
    created: 118,
    updated: 0,
    renamed: 0,
    skipped: 1,
    refused: 1,
    domains: 0,
    utm_templates: 0,
    rule_sets: 0,
    settings: 0,
    locked: 0,
    closed: 0,
    ...{ clicks: 0, clicks_left_out: 0, clicks_opening: 5_310 },
    ...{ conversions: 0, conversions_left_out: 0 },
  },
  fault: null,
  created_at: MADE,
  started_at: '2026-11-20T10:07:10.000000Z',
  ended_at: '2026-11-20T10:07:12.500000Z',
}

/** Examples of answers, by the names of their schemas. What follows from these is composed (`openapi.ts`). */
export const SCHEMA_EXAMPLES: Readonly<Record<string, unknown>> = {
  Link: link,
  IncludingLink: { ...link, ...INCLUDED_EXAMPLE },
  LinkOrigin: {
    import_id: OTHER,
    origin: 'csv links.csv',
    ref: 'old.example/spring',
    rest: { Notes: 'from the flyer' },
  },
  ...SMART_LINK_EXAMPLES,
  KeyAvailability: {
    domain: 'go.example.com',
    key: 'spring',
    available: false,
    reason: 'taken',
    message: 'is taken on this domain',
    fault: { code: 'taken', message: 'is taken on this domain' },
    suggestion: 'k3m9xwz',
  },
  BulkLinksAnswer: bulk,
  Tag: { name: 'spring', links: 12 },
  TagsChanged: { done: true, changed: 12 },
  UtmTemplate: {
    id: OTHER,
    workspace_id: WORKSPACE,
    name: 'Newsletter',
    ...UTM,
    managed_by: null,
    managed_at: null,
    created_at: MADE,
    updated_at: CHANGED,
  },
  Import: importing,
  ImportColumns: {
    data: [
      { name: 'Short link', field: 'key', samples: ['spring', 'sale', 'docs'] },
      { name: 'Notes', field: null, samples: ['from the flyer'] },
    ],
  },
  ImportCancelled: { message: 'Import cancelled', ...importing, status: 'cancelled' },
  Domain: domain,
  IncludingDomain: {
    ...domain,
    links: 12,
    dns: {
      unicode_domain: 'go.example.com',
      verdict: 'proved',
      is_active_elsewhere: false,
      ...checks,
    },
    https: { certificate, hsts_max_age: 31_536_000 },
    is_default: true,
  },
  DefaultDomain: { domain: 'go.example.com' },
  DomainHttps: { domain: 'go.example.com', certificate, hsts_max_age: 31_536_000 },
  DnsReport: {
    domain: 'links.example.com',
    unicode_domain: 'links.example.com',
    status: 'pending',
    proof: 'dns',
    verdict: 'unproved',
    records: [
      {
        purpose: 'ownership',
        type: 'TXT',
        name: '_terse.links',
        full_name: '_terse.links.example.com',
        value: 'terse-verify=7e99f2340b6930c250f83e9266989e75918fd25a',
      },
      {
        purpose: 'routing',
        type: 'CNAME',
        name: 'links',
        full_name: 'links.example.com',
        value: 'go.example.com',
      },
    ],
    seen: { txt: [], cname: ['go.example.com'], a: ['203.0.113.7'], aaaa: [] },
    differences: [
      {
        code: 'txt_missing',
        text: 'Add a TXT record named _terse.links with the value terse-verify=7e99f2340b6930c250f83e9266989e75918fd25a.',
      },
    ],
    ...checks,
    certificate: null,
  },
  ClickReport: report,
  Sparklines: {
    from: '2026-11-21T00:00:00.000000+01:00',
    to: '2026-11-23T00:00:00.000000+01:00',
    timezone: 'Europe/Berlin',
    counted_until: null,
    starts: ['2026-11-21T00:00:00.000000+01:00', '2026-11-22T00:00:00.000000+01:00'],
    data: [{ link_id: LINK, total: 3, clicks: [1, 2] }],
  },
  ExportedClick: exportedClick,
  LiveStart: {
    from: '2026-11-22T18:39:00.000000Z',
    minutes: [
      { start: '2026-11-22T18:39:00.000000Z', clicks: 0 },
      { start: SEEN, clicks: 1 },
    ],
    clicks: [click],
  },
  ExportLine: {
    type: 'click_day',
    link_id: LINK,
    day: '2026-11-22',
    clicks: 3,
    bots: 1,
    last_click: 1_795_169_210,
  },
  Usage: {
    links: { used: 28, limit: 10_000 },
    domains: { used: 3, limit: null },
    pending_domains: { used: 1, limit: 1_000 },
    conversions: { used: 1_108, limit: 1_000_000 },
    storage_bytes: { used: 18_204, limit: null },
    requests_per_minute: { used: 4, limit: 600 },
  },
  ...WEBHOOK_EXAMPLES,
  ...ASSISTANT_EXAMPLES,
  Event: {
    sequence: 1_204,
    at: CHANGED,
    workspace_id: WORKSPACE,
    actor: { kind: 'person', id: ADA, name: 'Ada Lovelace' },
    request_id: '5f0c1d1e-8a43-4b7e-9f53-2f0f9a6f6d7e',
    type: 'link.updated',
    subject_id: LINK,
    subject_name: 'go.example.com/spring',
    before: { tags: ['spring'] },
    after: { tags: ['spring', 'print'] },
  },
  SignInOptions: {
    setup_required: false,
    oidc: { name: 'Example ID' },
    mail: true,
    base_url: 'https://go.example.com',
  },
  Session: {
    id: OTHER,
    person,
    memberships: [
      { workspace_id: WORKSPACE, workspace_name: 'acme', workspace_title: 'Acme', role: 'owner' },
    ],
    service_host: 'go.example.com',
    authenticated_at: SEEN,
    expires_at: LATER,
  },
  SessionEntry: {
    id: OTHER,
    device: 'Firefox on Linux',
    is_current: true,
    created_at: MADE,
    last_seen_at: SEEN,
  },
  Me: {
    ...person,
    has_password: true,
    has_totp: true,
    passkeys: 1,
    recovery_codes_left: 9,
    identities: [identity],
  },
  EmailChange: { status: 'mailed' },
  Workspace: workspace,
  Member: {
    id: GRACE,
    email: 'grace@example.com',
    name: 'Grace Hopper',
    role: 'member',
    is_from_groups: false,
    is_email_proved: true,
    is_disabled: false,
    has_second_factor: true,
    joined_at: CHANGED,
    last_seen_at: SEEN,
  },
  Invitation: invitation,
  CreatedInvitation: {
    ...invitation,
    url: 'https://go.example.com/app/invitation#code=Zk3pQ9wVx2sT7bLr',
    mail_sent: true,
  },
  InvitationDetails: {
    email: 'grace@example.com',
    workspace_name: 'acme',
    workspace_title: 'Acme',
    role: 'member',
    account_exists: null,
    can_create_account: true,
    expires_at: LATER,
  },
  Token: token,
  CreatedToken: {
    ...token,
    last_used_at: null,
    secret: 'terse_Lv9o5DhuRqfdgwaOgHfx5pjDRGzPPE2hl2Uf',
  },
  Account: { ...person, is_disabled: false, last_seen_at: SEEN },
  OneTimeLink: {
    url: 'https://go.example.com/app/password#code=Zk3pQ9wVx2sT7bLr',
    expires_at: '2026-11-23T18:40:00.000000Z',
  },
  TotpSetup: {
    secret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
    url: 'otpauth://totp/Terse:ada%40example.com?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Terse',
  },
  RecoveryCodes: { codes: ['k3m9x-wz47h', 'p8t2c-vn6qd'] },
  PasskeyOptions: {
    public_key: { challenge: 'q0Xz1mWb7kT4', rpId: 'go.example.com', userVerification: 'required' },
  },
  Passkey: { ...passkey, last_used_at: SEEN },
  Instance: {
    version: '0.1.0',
    node_version: '26.4.0',
    base_url: 'https://go.example.com',
    database: 'SQLite 3.53.4, in the data folder',
    roles: { redirects: 'ok', api: 'ok' },
    lost_clicks: 0,
    doubtful_clicks: 0,
    damaged_files: [],
    data_folder_fault: null,
    journal_fault: null,
    clicks_fault: null,
    is_disk_low: false,
    counted_until: null,
    nodes: [
      {
        id: '3f6c1b2a',
        name: 'web-1',
        process: 4_711,
        version: '0.1.0',
        state: 'up',
        started_at: MADE,
        heard_at: SEEN,
        backlog_bytes: 0,
        oldest_click_at: null,
        untrusted_proxy: null,
      },
    ],
    certificates: { valid: 3, expiring: 0, expired: 0, failing: 0 },
  },
  Diagnosis: {
    checked_at: SEEN,
    findings: [
      {
        subject: 'backups',
        state: 'warning',
        text: 'no backup has been made',
        advice: 'Set TERSE_BACKUP_TO.',
      },
    ],
  },
  OidcStart: { url: 'https://id.example.com/authorize?client_id=terse&response_type=code' },
  PasswordResetDetails: { passkeys: [passkey], identities: [identity], may_keep: true },
}

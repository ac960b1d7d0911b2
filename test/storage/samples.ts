import { randomUUID } from 'node:crypto'
import type { FullStore, Stores } from '../../src/app/database/stores.ts'
import type { SealedCertificate } from '../../src/certificates/certificate.ts'
import type { Domain } from '../../src/domains/domain.ts'
import { commandLine } from '../../src/identity/actor.ts'
import { NO_SUBJECT } from '../../src/identity/one-time-links.ts'
import type { Person } from '../../src/identity/people/person.ts'
import type { Session } from '../../src/identity/sign-in/session.ts'
import type { Identity, Passkey } from '../../src/identity/store/credential-store.ts'
import type { OneTimeLink } from '../../src/identity/store/one-time-link-store.ts'
import type { Token } from '../../src/identity/store/token-store.ts'
import type { Workspace } from '../../src/identity/workspaces/workspace.ts'
import {
  type Import,
  type ImportedLink,
  type ReportRow,
  newImport as waitingImport,
} from '../../src/imports/import.ts'
import { type Link, type NewLink, NO_ATTRIBUTES } from '../../src/links/link.ts'
import type { LinkQuery } from '../../src/links/link-query.ts'
import type { Node } from '../../src/operations/nodes.ts'

/** An instant whose last digits a millisecond value, or a 32-bit number, would lose. */
export const NOW = 1_750_000_000_123_457

/** A unique name, host or key. */
export function unique(prefix: string): string {
  return `${prefix}-${randomUUID().slice(-12)}`
}

export function newWorkspace(overrides: Partial<Workspace> = {}): Workspace {
  const name = unique('workspace')
  return { id: randomUUID(), name, title: name, created_at: NOW, ...overrides }
}

export async function addWorkspace(store: FullStore): Promise<Workspace> {
  const workspace = newWorkspace()
  await store.write((stores) => stores.workspaces.insert(workspace))
  return workspace
}

export function newPerson(overrides: Partial<Person> = {}): Person {
  const email = `${unique('ada')}@example.com`
  return {
    id: randomUUID(),
    email,
    email_folded: email,
    name: 'Ada',
    is_operator: false,
    created_at: NOW,
    disabled_at: null,
    email_proved_at: null,
    ...overrides,
  }
}

export async function addPerson(
  store: FullStore,
  overrides: Partial<Person> = {},
): Promise<Person> {
  const person = newPerson(overrides)
  await store.write((stores) => stores.people.insert(person))
  return person
}

export function newSession(personId: string, overrides: Partial<Session> = {}): Session {
  const times = { created_at: NOW, authenticated_at: NOW, last_seen_at: NOW }
  return {
    id: randomUUID(),
    person_id: personId,
    device: 'Firefox on Linux',
    ...times,
    ...overrides,
  }
}

export function newPasskey(personId: string, overrides: Partial<Passkey> = {}): Passkey {
  return {
    id: randomUUID(),
    person_id: personId,
    credential_id: randomUUID(),
    public_key: 'key',
    counter: 0,
    transports: ['internal', 'hybrid'],
    name: 'Laptop',
    created_at: NOW,
    last_used_at: null,
    needs_password: false,
    ...overrides,
  }
}

export function newIdentity(personId: string): Identity {
  const issuer = 'https://id.example.com'
  return { issuer, subject: randomUUID(), person_id: personId, created_at: NOW }
}

export function newOneTimeLink(overrides: Partial<OneTimeLink> = {}): OneTimeLink {
  return {
    ...NO_SUBJECT,
    id: randomUUID(),
    kind: 'setup',
    created_by: null,
    created_by_kind: null,
    created_by_id: null,
    created_at: NOW,
    expires_at: NOW + 1_000,
    used_at: null,
    ...overrides,
  }
}

/** Returns the spool of an import in the workspace of a home. */
export function newSpool({ workspace_id }: Pick<Home, 'workspace_id'>) {
  return { id: randomUUID(), workspace_id, visitor_key: '00'.repeat(16), created_at: NOW }
}

/** Where a link is stored. */
export type Home = {
  readonly workspace_id: string
  readonly keyspace_id: number
  readonly domain: string
}

/** Creates a workspace with a keyspace. */
export async function addHome(store: FullStore): Promise<Home> {
  const workspace = await addWorkspace(store)
  return addKeyspace(store, workspace.id)
}

/** Creates another keyspace in a workspace. */
export async function addKeyspace(store: FullStore, workspaceId: string): Promise<Home> {
  const domain = `${unique('host')}.example`
  const keyspaceId = await store.write((stores) => stores.keyspaces.open(workspaceId, domain))
  return { workspace_id: workspaceId, keyspace_id: keyspaceId, domain }
}

/** What no file of links as code describes. */
export const UNMANAGED = { managed_by: null, managed_at: null }

export function newLink(home: Home, overrides: Partial<NewLink> = {}): NewLink {
  return {
    ...NO_ATTRIBUTES,
    ...home,
    id: randomUUID(),
    key: unique('key'),
    url: 'https://example.com/',
    created_at: NOW,
    updated_at: NOW,
    managed_at: null,
    ...overrides,
  }
}

export async function insertLink(
  stores: Stores,
  home: Home,
  overrides: Partial<NewLink> = {},
): Promise<Link> {
  const link = await stores.links.insert(newLink(home, overrides))
  if (link === undefined) throw new Error('the key is taken')
  return link
}

export function addLink(
  store: FullStore,
  home: Home,
  overrides: Partial<NewLink> = {},
): Promise<Link> {
  return store.write((stores) => insertLink(stores, home, overrides))
}

export function newDomain(workspaceId: string, overrides: Partial<Domain> = {}): Domain {
  return {
    id: randomUUID(),
    workspace_id: workspaceId,
    host: `${unique('host')}.example`,
    status: 'pending',
    not_found_url: null,
    expired_url: null,
    created_at: NOW,
    updated_at: NOW,
    ...overrides,
  }
}

export async function addDomain(
  store: FullStore,
  workspaceId: string,
  overrides: Partial<Domain> = {},
): Promise<Domain> {
  const domain = newDomain(workspaceId, overrides)
  await store.write((stores) => stores.domains.insert(domain))
  return domain
}

export function newToken(workspaceId: string, overrides: Partial<Token> = {}): Token {
  return {
    id: randomUUID(),
    workspace_id: workspaceId,
    name: 'a token',
    scopes: ['links:read', 'links:write'],
    created_at: NOW,
    created_by: null,
    expires_at: null,
    last_used_at: null,
    revoked_at: null,
    ...overrides,
  }
}

/** The API's default list of a workspace's links. */
export function listOf(workspaceId: string, overrides: Partial<LinkQuery> = {}): LinkQuery {
  const sort = { field: 'created_at', descending: true } as const
  return { workspaceId, offset: 0, limit: 25, sort, ...overrides }
}

/** The first page of a workspace's links or domains, newest first. */
export function runOf(workspaceId: string) {
  return { workspaceId, limit: 25, descending: true, beyond: undefined }
}

export function newSealedCertificate(
  overrides: Partial<SealedCertificate> = {},
): SealedCertificate {
  return {
    host: `${unique('host')}.example`,
    chainPem: 'chain',
    sealedKey: 'sealed',
    notBefore: NOW,
    notAfter: NOW + 1,
    directory: 'https://ca.example/directory',
    ariId: null,
    renewalWindow: null,
    ...overrides,
  }
}

export function newNode(id: string): Node {
  return {
    id,
    name: 'a machine',
    process: 1,
    version: '1.0.0',
    started_at: NOW,
    beat_at: NOW,
    backlog_bytes: 0,
    oldest_click_at: null,
    untrusted_proxy: null,
  }
}

export function newImport(workspaceId: string, overrides: Partial<Import> = {}): Import {
  const asked = {
    source: 'csv',
    isDryRun: false,
    options: { domains: {}, onConflict: 'skip', timeZone: 'UTC', columns: {} },
  } as const
  return {
    ...waitingImport(commandLine(workspaceId), asked, { id: randomUUID(), now: NOW }),
    runner: 'command',
    status: 'reading',
    fence: 1,
    ...overrides,
  }
}

export function newReportRow(importId: string): ReportRow {
  return {
    import_id: importId,
    number: 1,
    place: 'line 2',
    old_link: 'old',
    outcome: 'created',
    is_locked: 0,
    is_closed: 0,
    link_id: randomUUID(),
    link: 'https://go.example/old',
    reason: '',
    source_row: null,
    target: null,
  }
}

export function newImportedLink({ workspace_id, keyspace_id }: Home): ImportedLink {
  const link_seq = Math.floor(Math.random() * 2 ** 40)
  const ref = unique('ref')
  const from = { import_id: randomUUID(), origin: 'csv', ref, rest: null }
  return { workspace_id, keyspace_id, link_seq, ...from }
}

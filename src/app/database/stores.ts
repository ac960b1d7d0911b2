import type { Kysely } from 'kysely'
import { type AssistantStore, assistantStore } from '../../assistants/assistant-store.ts'
import {
  type AcmeAccountStore,
  type AcmeBudgetStore,
  acmeAccountStore,
  acmeBudgetStore,
} from '../../certificates/store/acme-store.ts'
import {
  type CertificateOrderStore,
  certificateOrderStore,
} from '../../certificates/store/certificate-order-store.ts'
import {
  type CertificateStore,
  certificateStore,
} from '../../certificates/store/certificate-store.ts'
import type { ClickFeed } from '../../clicks/store/click-feed.ts'
import { type ClickLeaseStore, clickLeaseStore } from '../../clicks/store/click-lease-store.ts'
import type { ClickReaders, ClickReports } from '../../clicks/store/click-reports.ts'
import { type ClickSpoolStore, clickSpoolStore } from '../../clicks/store/click-spool-store.ts'
import { type ClickStore, clickStore } from '../../clicks/store/click-store.ts'
import { type VisitorSaltStore, visitorSaltStore } from '../../clicks/store/visitor-salt-store.ts'
import {
  type ConversionSettingsStore,
  conversionSettingsStore,
} from '../../conversions/store/conversion-settings-store.ts'
import { type ConversionStore, conversionStore } from '../../conversions/store/conversion-store.ts'
import { type DomainCheckStore, domainCheckStore } from '../../domains/store/domain-check-store.ts'
import {
  type DomainSettingsStore,
  domainSettingsStore,
} from '../../domains/store/domain-settings-store.ts'
import {
  type DomainStore,
  domainStore,
  type HstsStore,
  hstsStore,
} from '../../domains/store/domain-store.ts'
import { type EventStore, eventStore, type OpenEventFeed } from '../../events/store/event-store.ts'
import { type KeyspaceStore, keyspaceStore } from '../../hosts/store/keyspace-store.ts'
import { type CompatStore, compatStore } from '../../identity/store/compat-store.ts'
import {
  type IdentityStore,
  identityStore,
  type PasskeyStore,
  type PasswordStore,
  passkeyStore,
  passwordStore,
  type RecoveryCodeStore,
  recoveryCodeStore,
  type TotpStore,
  totpStore,
  type UsedChallengeStore,
  usedChallengeStore,
} from '../../identity/store/credential-store.ts'
import {
  type ErasureStore,
  erasureStore,
  type OpenEventMarks,
} from '../../identity/store/erasure-store.ts'
import { type MembershipStore, membershipStore } from '../../identity/store/membership-store.ts'
import {
  type OneTimeLinkStore,
  oneTimeLinkStore,
} from '../../identity/store/one-time-link-store.ts'
import { type PersonStore, personStore } from '../../identity/store/person-store.ts'
import { type SessionStore, sessionStore } from '../../identity/store/session-store.ts'
import { type TokenStore, tokenStore } from '../../identity/store/token-store.ts'
import {
  type GroupBindingStore,
  groupBindingStore,
  type QuotaStore,
  quotaStore,
  type WorkspaceStore,
  workspaceStore,
} from '../../identity/store/workspace-store.ts'
import {
  type ImportRowStore,
  type ImportStore,
  importRowStore,
  importStore,
} from '../../imports/store/import-store.ts'
import { type ImageStore, imageStore } from '../../links/previews/image-store.ts'
import { type RuleSetStore, ruleSetStore } from '../../links/rule-sets/rule-set-store.ts'
import { type LabelStore, labelStore } from '../../links/store/label-store.ts'
import { type LinkBatchStore, linkBatchStore } from '../../links/store/link-batch-store.ts'
import { type LinkDirectory, linkDirectory } from '../../links/store/link-directory.ts'
import type { LinkNumbering } from '../../links/store/link-numbers.ts'
import type { FindPage } from '../../links/store/link-scan.ts'
import { type LinkStore, linkStore } from '../../links/store/link-store.ts'
import { type MilestoneStore, milestoneStore } from '../../links/store/milestone-store.ts'
import { type TagStore, tagStore } from '../../links/store/tag-store.ts'
import {
  type UtmTemplateStore,
  utmTemplateStore,
} from '../../links/utm-templates/utm-template-store.ts'
import { type NodeStore, nodeStore } from '../../operations/nodes.ts'
import type { ChangeLog } from '../../storage/changes.ts'
import { type IdempotencyStore, idempotencyStore } from '../../storage/idempotency.ts'
import { type InstanceStore, instanceStore } from '../../storage/instance-keys.ts'
import type { Scans } from '../../storage/scans.ts'
import type { Schema } from '../../storage/schema.ts'
import type { LockName, Store } from '../../storage/store.ts'
import type { WriteBuffer } from '../../storage/write-buffer.ts'
import {
  type AttemptStore,
  attemptStore,
  type MessageStore,
  messageStore,
  type OutboxStore,
  outboxStore,
  type WebhookStore,
  webhookStore,
} from '../../webhooks/store/index.ts'

/** All stores over one connection or transaction. */
export type Stores = {
  readonly instance: InstanceStore
  readonly workspaces: WorkspaceStore
  readonly tokens: TokenStore
  readonly quotas: QuotaStore
  readonly people: PersonStore
  readonly passwords: PasswordStore
  readonly memberships: MembershipStore
  readonly assistants: AssistantStore
  readonly compat: CompatStore
  readonly sessions: SessionStore
  readonly oneTimeLinks: OneTimeLinkStore
  readonly totp: TotpStore
  readonly recoveryCodes: RecoveryCodeStore
  readonly passkeys: PasskeyStore
  readonly usedChallenges: UsedChallengeStore
  readonly identities: IdentityStore
  readonly groupBindings: GroupBindingStore
  readonly keyspaces: KeyspaceStore
  readonly domains: DomainStore
  readonly domainChecks: DomainCheckStore
  readonly hsts: HstsStore
  readonly domainSettings: DomainSettingsStore
  readonly certificates: CertificateStore
  readonly certificateOrders: CertificateOrderStore
  readonly acmeAccounts: AcmeAccountStore
  readonly acmeBudgets: AcmeBudgetStore
  readonly links: LinkStore
  readonly linkBatches: LinkBatchStore
  readonly tags: TagStore
  readonly labels: LabelStore
  readonly conversions: ConversionStore
  readonly conversionSettings: ConversionSettingsStore
  readonly utmTemplates: UtmTemplateStore
  readonly ruleSets: RuleSetStore
  readonly images: ImageStore
  readonly milestones: MilestoneStore
  readonly webhooks: WebhookStore
  readonly webhookMessages: MessageStore
  readonly webhookAttempts: AttemptStore
  readonly webhookOutbox: OutboxStore
  readonly imports: ImportStore
  readonly importRows: ImportRowStore
  readonly directory: LinkDirectory
  readonly clicks: ClickStore
  readonly clickSpools: ClickSpoolStore
  readonly clickLeases: ClickLeaseStore
  readonly reports: ClickReports
  readonly feed: ClickFeed
  readonly visitorSalts: VisitorSaltStore
  readonly nodes: NodeStore
  readonly changes: ChangeLog
  readonly events: EventStore
  readonly idempotency: IdempotencyStore
  readonly erasures: ErasureStore
}

/** The database with all stores. A service declares a `Store` of those that it uses. */
export type FullStore = Store<Stores>

/** The differences between the engines that the stores depend on. */
export type EngineTraits = {
  readonly changeLog: (db: Kysely<Schema>, writes: WriteBuffer) => ChangeLog
  readonly openFeed: OpenEventFeed
  readonly eventMarks: OpenEventMarks
  /** Of the database that has the clicks, which may be another one. */
  readonly clickReaders: ClickReaders
  readonly findPage: FindPage
  /**
   * Whether the result of an insert contains the new row's number. It then needs no `returning`,
   * for which SQLite fills a temporary table.
   */
  readonly returnsInsertId: boolean
  /** Undefined when the engine runs one writing transaction at a time. */
  readonly lockName: LockName | undefined
  readonly numbering: LinkNumbering
}

/** A connection or transaction, with `scans` for queries that may read many rows. */
type StoreConnection = {
  readonly db: Kysely<Schema>
  readonly scans: Scans
  readonly writes: WriteBuffer
}

type StoreParts = EngineTraits & StoreConnection

const OPENERS: { readonly [S in keyof Stores]: (on: StoreParts) => Stores[S] } = {
  instance: ({ db, writes }) => instanceStore(db, writes),
  workspaces: ({ db, lockName }) => workspaceStore(db, lockName),
  tokens: ({ db, lockName }) => tokenStore(db, lockName),
  quotas: ({ db, writes, lockName }) => quotaStore(db, writes, lockName),
  people: ({ db, lockName }) => personStore(db, lockName),
  passwords: ({ db }) => passwordStore(db),
  assistants: ({ db, lockName }) => assistantStore(db, lockName),
  compat: ({ db }) => compatStore(db),
  memberships: ({ db, lockName }) => membershipStore(db, lockName),
  sessions: ({ db, lockName }) => sessionStore(db, lockName),
  oneTimeLinks: ({ db }) => oneTimeLinkStore(db),
  totp: ({ db }) => totpStore(db),
  recoveryCodes: ({ db }) => recoveryCodeStore(db),
  passkeys: ({ db }) => passkeyStore(db),
  usedChallenges: ({ db }) => usedChallengeStore(db),
  identities: ({ db }) => identityStore(db),
  groupBindings: ({ db }) => groupBindingStore(db),
  keyspaces: ({ db }) => keyspaceStore(db),
  domains: ({ db }) => domainStore(db),
  domainChecks: ({ db }) => domainCheckStore(db),
  hsts: ({ db }) => hstsStore(db),
  domainSettings: ({ db }) => domainSettingsStore(db),
  certificates: ({ db }) => certificateStore(db),
  certificateOrders: ({ db }) => certificateOrderStore(db),
  acmeAccounts: ({ db }) => acmeAccountStore(db),
  acmeBudgets: ({ db }) => acmeBudgetStore(db),
  links: (on) => linkStore(on),
  linkBatches: (on) => linkBatchStore(on),
  tags: (on) => tagStore(on),
  labels: ({ db }) => labelStore(db),
  conversions: ({ db, scans }) => conversionStore(db, scans),
  conversionSettings: ({ db }) => conversionSettingsStore(db),
  utmTemplates: ({ db }) => utmTemplateStore(db),
  ruleSets: ({ db, lockName }) => ruleSetStore(db, lockName),
  milestones: ({ db }) => milestoneStore(db),
  images: ({ db, lockName }) => imageStore(db, lockName),
  webhooks: ({ db }) => webhookStore(db),
  webhookMessages: ({ db }) => messageStore(db),
  webhookAttempts: ({ db }) => attemptStore(db),
  webhookOutbox: ({ db }) => outboxStore(db),
  imports: ({ db }) => importStore(db),
  importRows: (on) => importRowStore(on),
  directory: ({ db }) => linkDirectory(db),
  clicks: ({ db }) => clickStore(db),
  clickSpools: ({ db }) => clickSpoolStore(db),
  clickLeases: ({ db, lockName }) => clickLeaseStore(db, lockName),
  reports: (on) => on.clickReaders.reports(on),
  feed: (on) => on.clickReaders.feed(on),
  visitorSalts: ({ db }) => visitorSaltStore(db),
  nodes: ({ db }) => nodeStore(db),
  changes: ({ db, writes, changeLog }) => changeLog(db, writes),
  events: (on) => eventStore(on),
  idempotency: ({ db, writes }) => idempotencyStore(db, writes),
  erasures: ({ db, writes, eventMarks }) => erasureStore(db, writes, eventMarks),
}

const NAMES = Object.keys(OPENERS) as (keyof Stores)[]

/** Opens a store when it is first used: a transaction uses a few of them. Its getters are those of `OPENERS`. */
class LazyStores {
  readonly #on: StoreParts
  readonly #opened: Partial<Record<keyof Stores, unknown>> = {}

  static {
    for (const name of NAMES) {
      Object.defineProperty(LazyStores.prototype, name, {
        get(this: LazyStores) {
          this.#opened[name] ??= OPENERS[name](this.#on)
          return this.#opened[name]
        },
      })
    }
  }

  constructor(on: StoreParts) {
    this.#on = on
  }
}

/** Returns every store over one connection or transaction. */
export function storesOver(traits: EngineTraits, on: StoreConnection): Stores {
  return new LazyStores({ ...traits, ...on }) as unknown as Stores
}

import { createHash } from 'node:crypto'
import type {
  AppleDocument,
  AssetLinksDocument,
  DomainSettingsInput,
  DomainSettingsResource,
} from '@terse/contract/domain-settings'
import { fromFields, UTM_FIELDS } from '@terse/contract/link-fields'
import { hostThatCouldLoop, parseDestination, type ServiceName } from '../hosts/index.ts'
import type { Actor } from '../identity/index.ts'
import { isUuid } from '../platform/crypto/random.ts'
import { Failure, FaultList, type FieldFaults, faultsFoundBy } from '../platform/failure.ts'
import { type Clock, formatInstant } from '../platform/time/clock.ts'
import { type ExpectedVersions, requireVersion, versionOf } from '../platform/version.ts'
import { type ChangeLog, hostChange } from '../storage/changes.ts'
import {
  changedFields,
  type EventFields,
  type EventWriter,
  hasChanges,
  type NewEvent,
} from '../storage/event-log.ts'
import { presentManagedAt, timesOfWrite } from '../storage/managed.ts'
import type { RowLock, Store } from '../storage/store.ts'
import type { Domain } from './domain.ts'
import type { DomainSettings, DomainSettingsStore } from './store/domain-settings-store.ts'
import type { DomainStore } from './store/domain-store.ts'

type SettingName = Exclude<
  keyof DomainSettings,
  'domain_id' | 'workspace_id' | 'managed_at' | 'updated_at'
>
type Settings = Pick<DomainSettings, SettingName>

/** Of a new domain. */
const NO_SETTINGS: Settings = Object.freeze({
  root_url: null,
  robots: null,
  utm: null,
  rule_set: null,
  track_conversions: null,
  apple_app_site_association: null,
  assetlinks: null,
  managed_by: null,
})

type SettingsStores = {
  readonly domains: Pick<DomainStore, 'findById'>
  readonly domainSettings: DomainSettingsStore
  readonly ruleSets: { has(workspaceId: string, id: string, rowLock?: RowLock): Promise<boolean> }
  readonly changes: ChangeLog
  readonly events: EventWriter
}

/** A domain, with its settings; undefined when they were never changed. */
export type SettledDomain = {
  readonly domain: Domain
  readonly settings: DomainSettings | undefined
}

/** Identifies the state of everything that a write can change, for `If-Match`. */
export function settingsVersion({ domain, settings }: SettledDomain): string {
  return versionOf(domain.id, domain.host, settings?.updated_at ?? null)
}

export function presentSettings({ domain, settings }: SettledDomain): DomainSettingsResource {
  const { root_url, robots, utm, ...others } = settings ?? NO_SETTINGS
  return {
    domain: domain.host,
    root_url,
    robots,
    utm: fromFields(UTM_FIELDS, (field) => utm?.[field] ?? null),
    rule_set: others.rule_set,
    track_conversions: others.track_conversions,
    apple_app_site_association: others.apple_app_site_association,
    assetlinks: others.assetlinks,
    managed_by: others.managed_by,
    managed_at: settings === undefined ? null : presentManagedAt(settings),
    updated_at: settings === undefined ? null : formatInstant(settings.updated_at),
  }
}

/** The settings of domains besides what the specification has. Each operation acts within the workspace of its actor. */
export class DomainSettingsService {
  readonly #store: Store<SettingsStores>
  readonly #clock: Clock
  readonly #service: ServiceName

  constructor({
    store,
    clock,
    serviceHost,
  }: {
    readonly store: Store<SettingsStores>
    readonly clock: Clock
    readonly serviceHost: ServiceName
  }) {
    this.#store = store
    this.#clock = clock
    this.#service = serviceHost
  }

  /** @throws {Failure} `not_found` */
  get(actor: Actor, id: string): Promise<SettledDomain> {
    return findSettled(this.#store.read, actor, id)
  }

  /**
   * Returns the faults of an input that can be found without the database.
   *
   * @param host of the domain; where it is unknown, a root that leads to itself is no fault
   */
  faultsOf(input: DomainSettingsInput, host?: string): FieldFaults {
    return faultsFoundBy(() => {
      const { root_url = null } = parseSettings(input)
      if (host !== undefined) this.#refuseLoop({ host }, { root_url })
    })
  }

  /**
   * Sets the settings of a domain whose settings were never changed. Returns whether it was such a domain.
   *
   * @param options.isPreview whether nothing is written
   * @throws {Failure} `not_found`, `validation_failed`; `precondition_failed` when they are changed at the same time
   */
  async adopt(
    actor: Actor,
    id: string,
    input: DomainSettingsInput,
    { isPreview }: { readonly isPreview: boolean },
  ): Promise<boolean> {
    const found = await this.get(actor, id)
    if (found.settings !== undefined) return false
    const expected = [settingsVersion(found)]
    if (!isPreview) await this.update(actor, id, input, { expected, replaces: true })
    return true
  }

  /**
   * Changes settings for all links of the domain, from their next visit on.
   *
   * @param options.replaces whether those that the input leaves out become those of a new domain
   * @throws {Failure} `not_found`, `validation_failed`, `precondition_failed`
   */
  update(
    actor: Actor,
    id: string,
    input: DomainSettingsInput,
    { expected, replaces }: { expected?: ExpectedVersions; replaces: boolean },
  ): Promise<SettledDomain> {
    const changes = parseSettings(input)
    return this.#store.write(async (stores) => {
      const found = await findSettled(stores, actor, id)
      requireVersion(expected, settingsVersion(found))
      const { domain, settings } = found
      const before = settingsOf(settings)
      const { managed_by } = before
      const after = { ...(replaces ? { ...NO_SETTINGS, managed_by } : before), ...changes }
      this.#refuseLoop(domain, after)
      if (after.rule_set !== null && after.rule_set !== before.rule_set) {
        await requireRuleSet(stores, actor, after.rule_set)
      }
      const event = settingsUpdated(domain, before, after)
      const times = timesOfWrite(settings, {
        managed_by: after.managed_by,
        isNamed: changes.managed_by !== undefined,
        isChanged: hasChanges(event),
        nowMicros: this.#clock.nowMicros(),
      })
      const { updated_at: now } = times
      const ids = { domain_id: domain.id, workspace_id: domain.workspace_id }
      const next = { ...ids, ...after, ...times }
      await stores.domainSettings.save(next, settings?.updated_at)
      if (now === settings?.updated_at) return { domain, settings: next }
      await stores.changes.append(hostChange(domain.host), now)
      await stores.events.append(actor, event, now)
      return { domain, settings: next }
    })
  }

  /** @throws {Failure} `validation_failed` for a root that leads to itself */
  #refuseLoop({ host }: Pick<Domain, 'host'>, { root_url }: Pick<Settings, 'root_url'>): void {
    if (root_url === null || hostThatCouldLoop(root_url, this.#service) !== host) return
    if (new URL(root_url).pathname !== '/') return
    throw Failure.invalid({ root_url: [{ code: 'loop', reason: 'domain' }] })
  }
}

function settingsOf(stored: DomainSettings | undefined): Settings {
  if (stored === undefined) return NO_SETTINGS
  const { domain_id, workspace_id, managed_at, updated_at, ...settings } = stored
  return settings
}

/** @throws {Failure} `not_found` */
async function findSettled(
  stores: Pick<SettingsStores, 'domains' | 'domainSettings'>,
  { workspaceId }: Actor,
  id: string,
): Promise<SettledDomain> {
  const domain = isUuid(id) ? await stores.domains.findById(workspaceId, id) : undefined
  if (domain === undefined) throw Failure.notFound('Domain')
  return { domain, settings: await stores.domainSettings.find(id) }
}

/** @throws {Failure} `validation_failed` when the workspace has no such set */
async function requireRuleSet(
  { ruleSets }: SettingsStores,
  { workspaceId }: Actor,
  id: string,
): Promise<void> {
  if (await ruleSets.has(workspaceId, id, 'share')) return
  throw Failure.invalid({ rule_set: [{ code: 'unknown_rule_set' }] })
}

/** @throws {Failure} `validation_failed` naming every field that is wrong */
function parseSettings({
  domain,
  managed_at,
  updated_at,
  root_url,
  utm,
  ...input
}: DomainSettingsInput): Partial<Settings> {
  const faults = new FaultList()
  const others = Object.entries(input).filter(([, value]) => value !== undefined)
  const changes: { -readonly [K in SettingName]?: Settings[K] } = Object.fromEntries(others)
  if (root_url === null) changes.root_url = null
  else if (root_url !== undefined) {
    const parsed = faults.take('root_url', parseDestination(root_url))
    if (parsed !== undefined) changes.root_url = parsed
  }
  if (utm !== undefined) {
    const set = Object.entries(utm ?? {}).filter(([, value]) => typeof value === 'string')
    changes.utm = set.length === 0 ? null : Object.fromEntries(set)
  }
  faults.throwIfAny()
  return changes
}

function settingsUpdated({ id }: Domain, before: Settings, after: Settings): NewEvent {
  const changed = changedFields(fieldsOf(before), fieldsOf(after))
  return { type: 'domain.updated', subjectId: id, ...changed }
}

/** A document may have 128 KiB: the log has its size and hash. */
function fieldsOf({ apple_app_site_association, assetlinks, ...settings }: Settings): EventFields {
  return {
    ...settings,
    apple_app_site_association: summaryOf(apple_app_site_association),
    assetlinks: summaryOf(assetlinks),
  }
}

function summaryOf(document: AppleDocument | AssetLinksDocument | null): string | null {
  if (document === null) return null
  const json = JSON.stringify(document)
  const digest = createHash('sha256').update(json).digest('hex')
  return `${Buffer.byteLength(json)} bytes, SHA-256 ${digest}`
}

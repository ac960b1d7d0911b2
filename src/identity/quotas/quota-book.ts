import { Failure } from '../../platform/failure.ts'
import { waitForAll } from '../../platform/work/async.ts'
import type { ChangeListener } from '../../storage/changes.ts'
import { CoherentCache } from '../../storage/coherent-cache.ts'
import { StaleRow, type Store } from '../../storage/store.ts'
import type { Actor } from '../actor.ts'
import type { QuotaStore } from '../store/workspace-store.ts'
import { type QuotaOverrides, type Quotas, quotasOf, type Usage } from './quota.ts'

const WORKSPACES_MAX = 10_000

/** The limits of workspaces, from memory where it can. */
export class QuotaBook implements ChangeListener {
  readonly #defaults: Quotas
  readonly #overrides: CoherentCache<QuotaOverrides>
  readonly #near = new NearQuotas()

  constructor({ store, defaults }: { store: Store<QuotaStores>; defaults: Quotas }) {
    this.#defaults = defaults
    this.#overrides = new CoherentCache({
      sizeMax: WORKSPACES_MAX,
      sizeOf: () => 1,
      load: (workspaceId) => store.read.quotas.find(workspaceId),
    })
  }

  /** At once where they are known. */
  of(workspaceId: string): Quotas | Promise<Quotas> {
    const found = this.#overrides.get(workspaceId)
    return found instanceof Promise
      ? found.then((overrides) => quotasOf(this.#defaults, overrides))
      : quotasOf(this.#defaults, found)
  }

  /** What `enforceQuotas` needs to know. */
  async limitsOf(workspaceId: string): Promise<WorkspaceLimits> {
    return { workspaceId, quotas: await this.of(workspaceId), near: this.#near }
  }

  apply: ChangeListener['apply'] = (changes) => {
    for (const { kind, subject } of changes) if (kind === 'quota') this.#overrides.forget(subject)
  }

  forgetAll(): void {
    this.#overrides.forgetAll()
  }

  forgetAbsences(): void {
    this.#overrides.forgetAbsences()
  }
}

export type QuotaStores = { readonly quotas: QuotaStore }

/** What bounds a workspace. */
export type WorkspaceLimits = {
  readonly workspaceId: string
  readonly quotas: Quotas
  readonly near: NearQuotas
}

/** What a unit adds to a workspace. */
export type Growth = Partial<Usage>

/**
 * Units that may add to a workspace at the same moment, of all processes of all nodes. Where so many
 * might pass a quota together they wait for one another, so that none is passed.
 */
const UNITS_AT_ONCE_MAX = 1_000

/** The field in which a reached quota is reported. */
const FIELDS: Readonly<Record<keyof Usage, string>> = {
  links: 'workspace',
  storage_bytes: 'workspace',
  domains: 'domain',
  pending_domains: 'domain',
  conversions: 'workspace',
}

/**
 * Refuses a unit that would take its workspace past a quota. To be called in the unit, before it writes
 * what it adds.
 *
 * @throws {Failure} `validation_failed`, naming the quota and its limit
 * @throws {StaleRow} where the quota turns out to be near: the next run takes the lock with its look
 */
export async function enforceQuotas(
  stores: QuotaStores,
  { workspaceId, quotas, near }: WorkspaceLimits,
  growth: Growth,
): Promise<void> {
  const names = (Object.keys(growth) as (keyof Usage)[]).filter(
    (name) => quotas[name] > 0 && (growth[name] ?? 0) > 0,
  )
  if (names.length === 0) return
  const leftAfter = (usage: Growth, name: keyof Usage, units: number) =>
    quotas[name] - (usage[name] ?? 0) - (growth[name] ?? 0) * units
  const isNear = (usage: Growth) =>
    names.some((name) => leftAfter(usage, name, UNITS_AT_ONCE_MAX) < 0)
  // A quota that is small in itself is near from the first unit on.
  const locks = isNear({}) || near.has(workspaceId)
  const [, usage] = await waitForAll([
    locks ? stores.quotas.lock(workspaceId) : undefined,
    usageOf(stores, workspaceId, names),
  ])
  near.note(workspaceId, isNear(usage))
  if (isNear(usage) && !locks) throw new StaleRow()
  const reached = names.find((name) => leftAfter(usage, name, 1) < 0)
  if (reached === undefined) return
  throw Failure.invalid({
    [FIELDS[reached]]: [{ code: 'quota_reached', reason: reached, max: quotas[reached] }],
  })
}

async function usageOf(
  stores: QuotaStores,
  workspaceId: string,
  names: readonly (keyof Usage)[],
): Promise<Growth> {
  const ofLinks = names.includes('links') || names.includes('storage_bytes')
  const ofDomains = names.includes('domains') || names.includes('pending_domains')
  const ofConversions = names.includes('conversions')
  const [links, domains, conversions] = await waitForAll([
    ofLinks ? stores.quotas.countLinks(workspaceId) : undefined,
    ofDomains ? stores.quotas.countDomains(workspaceId) : undefined,
    ofConversions ? stores.quotas.countConversions(workspaceId) : undefined,
  ])
  return { ...links, ...domains, ...conversions }
}

/**
 * For how long a workspace counts as near at least. A unit enforces quotas several times, such as for each host that
 * it claims, and runs again when one turns out to be near: one that is not must not make it forget the other.
 */
const NEAR_MS_MIN = 60_000

/**
 * Which workspaces were near a quota when one was last enforced here: a hint, by which the next unit
 * locks and counts in one round trip. A wrong one costs time, never a quota.
 */
export class NearQuotas {
  /** When each was last near, in milliseconds; the longest ago first. */
  readonly #workspaces = new Map<string, number>()
  readonly #nowMs: () => number

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
  }

  has(workspaceId: string): boolean {
    return this.#workspaces.has(workspaceId)
  }

  note(workspaceId: string, isNear: boolean): void {
    if (isNear) {
      this.#workspaces.delete(workspaceId)
      const [oldest] = this.#workspaces.keys()
      if (this.#workspaces.size >= WORKSPACES_MAX && oldest !== undefined) {
        this.#workspaces.delete(oldest)
      }
      this.#workspaces.set(workspaceId, this.#nowMs())
      return
    }
    const nearAtMs = this.#workspaces.get(workspaceId)
    if (nearAtMs !== undefined && this.#nowMs() - nearAtMs > NEAR_MS_MIN) {
      this.#workspaces.delete(workspaceId)
    }
  }
}

/** Reads what the actor's workspace has, and what it may have. */
export type UsageReader = (actor: Actor) => Promise<{ used: Usage; limits: Quotas }>

export function usageReader({
  store,
  quotas,
}: {
  store: Store<QuotaStores>
  quotas: QuotaBook
}): UsageReader {
  return async ({ workspaceId }) => {
    const { countLinks, countDomains, countConversions } = store.read.quotas
    const [links, domains, conversions, limits] = await Promise.all([
      countLinks(workspaceId),
      countDomains(workspaceId),
      countConversions(workspaceId),
      quotas.of(workspaceId),
    ])
    return { used: { ...links, ...domains, ...conversions }, limits }
  }
}

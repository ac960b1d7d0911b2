import { CoherentCache } from '../../platform/cache/coherent-cache.ts'
import type { ChangeListener } from '../../platform/changes/changes.ts'
import type { Store } from '../../platform/database/store.ts'
import type { QuotaStores, WorkspaceLimits } from './enforce-quotas.ts'
import { NearQuotas } from './near-quotas.ts'
import { type QuotaOverrides, type Quotas, quotasOf } from './quota.ts'

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

import type { LabelSetting, LinkDirectory } from '../links/index.ts'
import { isUnavailable } from '../platform/failure.ts'
import type { Change } from '../storage/changes.ts'
import { CoherentCache, type KeptValues, type WarmStart } from '../storage/coherent-cache.ts'

/** Workspaces whose setting is cached. */
const WORKSPACES_MAX = 50_000

/** Finds for redirects how visits to the links of a workspace get labels. */
export class LabelSettings {
  readonly #settings: CoherentCache<LabelSetting>
  readonly #kept: KeptValues

  /** @param warmStart keeps what is cached for a later process */
  constructor(directory: LinkDirectory, warmStart: WarmStart) {
    const kept = warmStart.values('label')
    this.#kept = kept
    this.#settings = new CoherentCache({
      sizeMax: WORKSPACES_MAX,
      sizeOf: () => 1,
      load: (workspaceId) => directory.findLabelSetting(workspaceId),
      mirror: {
        keep: (name, setting) => kept.keep(name, () => JSON.stringify(setting)),
        drop: kept.drop,
      },
    })
  }

  restore(): void {
    for (const { name, value } of this.#kept.entries()) {
      this.#settings.restore(name, JSON.parse(value))
    }
  }

  /**
   * Returns the parameter of queries that has the labels of visits to a workspace's links; null for no labels. A promise
   * only where it is not cached, which it is with the links of the workspace.
   */
  parameterOf(workspaceId: string): string | null | Promise<string | null> {
    const setting = this.#settings.get(workspaceId)
    return setting instanceof Promise ? loadedParameter(setting) : (setting?.parameter ?? null)
  }

  apply(changes: readonly Change[]): void {
    for (const { kind, subject } of changes) if (kind === 'label') this.#settings.renew(subject)
  }

  forgetAll(): void {
    this.#settings.forgetAll()
  }
}

/** In an outage, visits to a workspace whose setting is not cached have no label. */
async function loadedParameter(loading: Promise<LabelSetting | undefined>): Promise<string | null> {
  try {
    return (await loading)?.parameter ?? null
  } catch (error) {
    if (!isUnavailable(error)) throw error
    return null
  }
}

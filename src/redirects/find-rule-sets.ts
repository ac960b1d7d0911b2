import type { LinkDirectory } from '../links/index.ts'
import type { Change, ChangeListener } from '../storage/changes.ts'
import { type CacheUse, CoherentCache, type WarmStart } from '../storage/coherent-cache.ts'
import { loadRuleSet } from './prepared-link.ts'
import { NO_SETS, type SharedRules, shareRules } from './rules.ts'

/** Memory for rule sets, beside that for links. The least used are loaded again when they are needed. */
const BYTES_MAX = 32 * 1024 * 1024

/**
 * Finds rule sets for redirects, by their subjects in the change log. A set is compiled once for all links that use it;
 * these hold its subject alone, so that its change reaches them without being written to them.
 */
export class RuleSetFinder implements ChangeListener {
  readonly #kept: ReturnType<WarmStart['values']>
  readonly #cache: CoherentCache<SharedRules>

  /** @param warmStart keeps what is cached for a later process */
  constructor(directory: LinkDirectory, warmStart: WarmStart) {
    const kept = warmStart.values('rule-set')
    this.#kept = kept
    this.#cache = new CoherentCache({
      sizeMax: BYTES_MAX,
      sizeOf: ({ rules }) => rules.bytes,
      load: (subject) => loadRuleSet(directory, subject),
      mirror: {
        keep: (name, { rules }) => kept.keep(name, () => JSON.stringify(rules.source)),
        drop: kept.drop,
      },
    })
  }

  get use(): CacheUse {
    return this.#cache.use
  }

  restore(): void {
    for (const { name, value } of this.#kept.entries()) {
      this.#cache.restore(name, shareRules(JSON.parse(value)))
    }
  }

  /** Returns the sets of a link and of its host, in this order, those that exist. Each may be none. */
  find(
    ofLink: string | null,
    ofHost: string | null,
  ): readonly SharedRules[] | Promise<readonly SharedRules[]> {
    if (ofLink === null && ofHost === null) return NO_SETS
    const first = ofLink === null ? undefined : this.#cache.get(ofLink)
    const second = ofHost === null || ofHost === ofLink ? undefined : this.#cache.get(ofHost)
    if (first instanceof Promise || second instanceof Promise) {
      return Promise.all([first, second]).then(existing)
    }
    return existing([first, second])
  }

  apply(changes: readonly Change[]): void {
    for (const { kind, subject } of changes) if (kind === 'rule-set') this.#cache.renew(subject)
  }

  forgetAll(): void {
    this.#cache.forgetAll()
  }

  forgetAbsences(): void {
    this.#cache.forgetAbsences()
  }
}

function existing(sets: readonly (SharedRules | undefined)[]): readonly SharedRules[] {
  return sets.filter((set) => set !== undefined)
}

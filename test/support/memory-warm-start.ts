import type { KeptKind, KeptValues, WarmStart } from '../../src/storage/coherent-cache.ts'

/** A warm start in memory: use the same one for an earlier and a later process. */
export function memoryWarmStart(): WarmStart {
  const kept: Record<KeptKind, Map<string, string>> = {
    host: new Map(),
    link: new Map(),
    'rule-set': new Map(),
    paths: new Map(),
    'visit-settings': new Map(),
    certificate: new Map(),
  }
  return {
    state: undefined,
    values: (kind) => valuesIn(kept[kind]),
    clear() {
      for (const values of Object.values(kept)) values.clear()
    },
  }
}

function valuesIn(values: Map<string, string>): KeptValues {
  return {
    entries: () => [...values].map(([name, value]) => ({ name, value })),
    keep: (name, encode) => values.set(name, encode()),
    drop: (name) => values.delete(name),
  }
}

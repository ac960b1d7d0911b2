import type { PreparedUpdate } from '../links/index.ts'
import type { BatchPlanner, Planned } from './batch-plan.ts'
import type { Item } from './batch-report.ts'

/** The updates that a transaction needs, which must be prepared before it. */
export class UpdatesNeeded extends Error {
  readonly missing: ReadonlyMap<number, string>

  constructor(missing: ReadonlyMap<number, string>) {
    super('updates must be prepared')
    this.missing = missing
  }
}

/** Updates that were prepared, by the index of their items. */
export type Prepared = ReadonlyMap<number, { readonly id: string; readonly update: PreparedUpdate }>

/**
 * Returns what is to be done with the items, up to the one where the import ends.
 *
 * @throws {UpdatesNeeded}
 */
export async function planItems(planner: BatchPlanner, items: readonly Item[], prepared: Prepared) {
  const plan: (Planned | undefined)[] = []
  const missing = new Map<number, string>()
  let stopped: string | undefined
  for (const [index, { entry }] of items.entries()) {
    const planned = entry && (await planner.plan(entry))
    if (planned?.do === 'stop') {
      stopped = planned.reason
      break
    }
    if (planned?.do === 'update' && prepared.get(index)?.id !== planned.holder.id) {
      missing.set(index, planned.holder.id)
    }
    plan.push(planned)
  }
  if (missing.size > 0) throw new UpdatesNeeded(missing)
  return { plan, stopped }
}

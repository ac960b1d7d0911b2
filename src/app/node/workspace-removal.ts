import type { Logger } from 'pino'
import type { Domains } from '../../domains/domains.ts'
import { systemActor } from '../../identity/actor.ts'
import { removeImports } from '../../imports/end-import.ts'
import { removeLinks } from '../../links/links.ts'
import { tokenChange } from '../../platform/changes/changes.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { FullStore } from '../database/stores.ts'
import { type Job, startPollingJob } from './polling-job.ts'

const POLL_INTERVAL_MS = 15_000
const DOMAINS_PER_PAGE = 100
/**
 * A request that was under way when its workspace was deleted may still add links. No request lasts as long
 * as this, so a removal that begins later is complete.
 */
const LAST_REQUEST_MICROS = 60 * 1_000_000

const remover = systemActor('workspace removal')

type Removal = {
  readonly store: FullStore
  readonly clock: Clock
  readonly domains: Domains
}

/** Deletes domains and links of deleted workspaces. Several nodes may do it at once. */
export function startWorkspaceRemoval(deps: Removal, log: Logger): Job {
  let isCancelled = false
  return startPollingJob({
    work: () => removeWorkspaces(deps, () => isCancelled),
    intervalMs: POLL_INTERVAL_MS,
    message: 'workspace removal failed',
    log,
    cancel() {
      isCancelled = true
    },
  })
}

export async function removeWorkspaces(deps: Removal, isCancelled: () => boolean): Promise<void> {
  const { store, clock } = deps
  for (const { id, deletedAt } of await store.read.workspaces.listUnremoved()) {
    const startedAt = clock.nowMicros()
    await removeImports(store, id, isCancelled)
    await removeDomains(deps, id, isCancelled)
    await removeLinks(deps, id, isCancelled)
    if (isCancelled()) return
    if (startedAt - deletedAt < LAST_REQUEST_MICROS) continue
    await store.write(async (stores) => {
      const now = clock.nowMicros()
      for (const token of await stores.tokens.revokeAll(id, now)) {
        await stores.changes.append(tokenChange(token), now)
      }
      await stores.workspaces.markRemoved(id, now)
    })
  }
}

/** Before the links: their hosts then stop answering at once, however many links there are. */
async function removeDomains(
  { domains }: Removal,
  workspaceId: string,
  isCancelled: () => boolean,
): Promise<void> {
  const actor = remover(workspaceId)
  while (!isCancelled()) {
    const { items } = await domains.list(actor, {}, 0, DOMAINS_PER_PAGE)
    if (items.length === 0) return
    for (const { id } of items) await domains.delete(actor, id)
  }
}

import type { ErasureStore } from '../identity/index.ts'
import { type ChangeLog, linkChange } from '../platform/changes/changes.ts'
import type { Store } from '../platform/database/store.ts'
import type { Clock } from '../platform/time/clock.ts'
import { foldKey } from './key.ts'
import type { LinkStore } from './store/link-store.ts'

/** Links deleted in one transaction, so that other writers can go between. */
const BATCH = 100

type RemovalStores = {
  readonly links: LinkStore
  readonly changes: ChangeLog
  readonly erasures: Pick<ErasureStore, 'noteLink'>
}

/** Deletes all links of a deleted workspace, without events: no member is left to read them. */
export async function removeLinks(
  { store, clock }: { readonly store: Store<RemovalStores>; readonly clock: Clock },
  workspaceId: string,
  isCancelled: () => boolean,
): Promise<void> {
  while (!isCancelled()) {
    const first = { workspaceId, limit: BATCH, descending: false, beyond: undefined }
    const { items } = await store.read.links.run(first)
    if (items.length === 0) return
    await store.write(async (stores) => {
      for (const { id } of items) {
        const link = await stores.links.delete(workspaceId, id)
        if (link === undefined) continue
        const now = clock.nowMicros()
        await stores.erasures.noteLink(link, now)
        await stores.changes.append(linkChange(link.keyspace_id, foldKey(link.key)), now)
      }
    })
  }
}

import type { Store } from '../../platform/database/store.ts'
import type { ClickSpoolStore } from '../store/click-spool-store.ts'
import type { ClickStore } from '../store/click-store.ts'
import { TOTALS_BUCKET } from './spool-bucket.ts'

type SpoolStores = { readonly clicks: ClickStore; readonly clickSpools: ClickSpoolStore }

/** Removes what is counted from complete spools. Several processes may do it at once. */
export async function removeCounted(store: Store<SpoolStores>): Promise<void> {
  for (const { id } of await store.read.clickSpools.listSealed()) await isCounted(store, id)
}

/** Removes what is counted from a spool that is complete. Returns whether that was all of it. */
export async function isCounted(store: Store<SpoolStores>, spoolId: string): Promise<boolean> {
  const { clicks, clickSpools } = store.read
  const spool = await clickSpools.find(spoolId)
  if (spool?.state !== 'sealed' || spool.journal_id === null) return true
  const position = await clicks.findPosition(spool.journal_id)
  if (position !== undefined) {
    while (await store.write((stores) => stores.clickSpools.removeCounted(spoolId, position)));
  }
  if (await clickSpools.hasClicks(spoolId)) return false
  while (await store.write((stores) => stores.clickSpools.clear(spoolId, TOTALS_BUCKET)));
  await store.write((stores) => stores.clickSpools.markCounted(spoolId))
  return true
}

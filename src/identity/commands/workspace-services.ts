import type { Store } from '../../platform/database/store.ts'
import type { QuotaBook, QuotaStores } from '../quotas/quota-book.ts'
import type { Workspaces } from '../workspaces/workspaces.ts'

/** What the commands about workspaces work with. */
export type WorkspaceServices = {
  readonly store: Store<QuotaStores>
  readonly workspaces: Workspaces
  readonly quotas: QuotaBook
}

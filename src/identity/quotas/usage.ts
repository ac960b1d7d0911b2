import type { Store } from '../../platform/database/store.ts'
import type { Actor } from '../actor.ts'
import type { Quotas, Usage } from './quota.ts'
import type { QuotaBook, QuotaStores } from './quota-book.ts'

/** Reads what the actor's workspace has, and what it may have. */
export type UsageReader = (actor: Actor) => Promise<{ used: Usage; limits: Quotas }>

export function usageOf({
  store,
  quotas,
}: {
  store: Store<QuotaStores>
  quotas: QuotaBook
}): UsageReader {
  return async ({ workspaceId }) => {
    const { countLinks, countDomains } = store.read.quotas
    const [links, domains, limits] = await Promise.all([
      countLinks(workspaceId),
      countDomains(workspaceId),
      quotas.of(workspaceId),
    ])
    return { used: { ...links, ...domains }, limits }
  }
}

import type { AcmeAccountStore } from './acme-account-store.ts'
import type { BudgetStores } from './order-budgets.ts'
import type { WantedStores } from './wanted-certificates.ts'

/** What the work on certificate orders reads and writes. */
export type OrderStores = WantedStores & BudgetStores & { readonly acmeAccounts: AcmeAccountStore }

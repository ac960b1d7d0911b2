import type { AcmeAccountStore } from './acme-account-store.ts'
import type { BudgetStores } from './order-budgets.ts'
import type { ReconcilerStores } from './order-reconciler.ts'

/** The stores that certificate orders read and write. */
export type OrderStores = ReconcilerStores &
  BudgetStores & { readonly acmeAccounts: AcmeAccountStore }

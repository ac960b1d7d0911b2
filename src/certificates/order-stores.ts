import type { CertificateEventStores } from './certificate-events.ts'
import type { BudgetStores } from './order-budgets.ts'
import type { ReconcilerStores } from './order-reconciler.ts'
import type { AcmeAccountStore } from './store/acme-account-store.ts'

/** The stores that certificate orders read and write. */
export type OrderStores = ReconcilerStores &
  BudgetStores &
  CertificateEventStores & { readonly acmeAccounts: AcmeAccountStore }

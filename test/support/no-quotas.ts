import type { FullStore } from '../../src/app/database/stores.ts'
import { QuotaBook } from '../../src/identity/quotas/quota-book.ts'

const NO_LIMITS = {
  links: 0,
  domains: 0,
  pending_domains: 0,
  conversions: 0,
  storage_bytes: 0,
  requests_per_minute: 0,
}

/** Quotas of a store whose instance has none. */
export function noQuotas(store: FullStore): QuotaBook {
  return new QuotaBook({ store, defaults: NO_LIMITS })
}

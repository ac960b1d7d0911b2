import type { ClaimStores } from '../domains/index.ts'
import type { QuotaStores } from '../identity/index.ts'
import type { IdempotencyStores } from '../platform/idempotency/once.ts'
import type { LinkStore } from './store/link-store.ts'

/** What decides where a workspace may have links. */
export type PlaceStores = ClaimStores & QuotaStores

/** What links are read from and written to. */
export type LinkStores = PlaceStores & IdempotencyStores & { readonly links: LinkStore }

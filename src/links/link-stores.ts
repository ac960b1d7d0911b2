import type { ClaimStores, DomainSettingsStore } from '../domains/index.ts'
import type { ErasureStore, QuotaStores } from '../identity/index.ts'
import type { IdempotencyStores } from '../storage/idempotency.ts'
import type { ImageStore } from './previews/image-store.ts'
import type { RuleSetStore } from './rule-sets/rule-set-store.ts'
import type { LinkDirectory } from './store/link-directory.ts'
import type { LinkStore } from './store/link-store.ts'
import type { TagStore } from './store/tag-store.ts'

/** The stores that decide on which hosts a workspace may have links. */
export type KeyspaceStores = ClaimStores & QuotaStores

/** The stores that the operations on links use. */
export type LinkStores = KeyspaceStores &
  IdempotencyStores & {
    readonly links: LinkStore
    readonly directory: LinkDirectory
    readonly tags: TagStore
    readonly ruleSets: Pick<RuleSetStore, 'findById' | 'has'>
    readonly domainSettings: Pick<DomainSettingsStore, 'find'>
    readonly images: Pick<ImageStore, 'has' | 'noteUse'>
    readonly erasures: Pick<ErasureStore, 'noteLink'>
  }

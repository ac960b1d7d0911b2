import type { ClickSpoolStore } from '../clicks/store/index.ts'
import type { MakerStores } from '../identity/index.ts'
import type { LinkBatchStores } from '../links/index.ts'
import type { ImportRowStore } from './store/import-row-store.ts'
import type { ImportStore } from './store/import-store.ts'

/** The stores that imports use. */
export type ImportStores = LinkBatchStores &
  MakerStores & {
    readonly imports: ImportStore
    readonly importRows: ImportRowStore
    readonly clickSpools: ClickSpoolStore
  }

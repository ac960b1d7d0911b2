import type { ImportStores } from '../../imports/import-stores.ts'
import type { ImportedClicks } from '../../imports/imported-clicks.ts'

/** Takes no clicks of imports: reports count them as left out. */
export function openImportedClicks(): ImportedClicks<ImportStores> {
  return {
    prepare: async (_of, clicks) => ({ refused: clicks, parts: [] }),
    spool: async () => {},
    finish: async () => ({ opening: 0, openingLinks: 0 }),
    discard: async () => {},
  }
}

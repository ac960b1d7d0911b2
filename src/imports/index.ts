/** The exports of imports for other modules. */
export type { ImportRowStore } from './store/import-store.ts'

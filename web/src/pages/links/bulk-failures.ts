import type { BulkResult } from '../../api/bulk-links.ts'
import { Observable } from '../../state/observable.ts'

type BulkFailures = { readonly failed: readonly BulkResult[]; readonly total: number }

/** What a bulk act could not do; undefined when there is nothing to show. */
export const bulkFailures = new Observable<BulkFailures | undefined>(undefined)

export function showBulkFailures(failed: readonly BulkResult[], total: number): void {
  bulkFailures.set({ failed, total })
}

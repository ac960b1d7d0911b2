import type { BulkResult } from '../../api/bulk-links.ts'
import { Observable } from '../../state/observable.ts'

type BulkFailures = {
  readonly failed: readonly BulkResult[]
  readonly total: number
  /** How many were not attempted. */
  readonly untouched: number
  /** Why they were not. */
  readonly reason: string | undefined
}

/** What a bulk act could not do; undefined when there is nothing to show. */
export const bulkFailures = new Observable<BulkFailures | undefined>(undefined)

import type { BulkOutcome, BulkWatch } from '../../api/bulk-links.ts'
import { BULK_ITEMS_MAX } from '../../api/bulk-parts.ts'
import { Observable } from '../../state/observable.ts'

/** A bulk act that needs several requests. */
type BulkRun = {
  readonly done: number
  readonly total: number
  /** Ends it after the request that is under way. */
  readonly stop: () => void
  readonly isStopping: boolean
}

/** Undefined while none is under way. */
export const bulkRun = new Observable<BulkRun | undefined>(undefined)

/** Whether it takes several requests: then it cannot be sent while the page is left, and shows how far it is. */
export function isLong(count: number): boolean {
  return count > BULK_ITEMS_MAX
}

/** Does it, and asks before the page is left where that would cut it short. */
export async function runBulk(
  total: number,
  act: (watch: BulkWatch) => Promise<BulkOutcome>,
): Promise<BulkOutcome> {
  if (!isLong(total)) return act({ onDone: () => {}, isStopped: () => false })
  let isStopping = false
  const show = (done: number) => bulkRun.set({ done, total, stop: () => stop(done), isStopping })
  function stop(done: number) {
    isStopping = true
    show(done)
  }
  show(0)
  addEventListener('beforeunload', askBefore)
  try {
    return await act({ onDone: show, isStopped: () => isStopping })
  } finally {
    removeEventListener('beforeunload', askBefore)
    bulkRun.set(undefined)
  }
}

function askBefore(event: BeforeUnloadEvent): void {
  event.preventDefault()
}

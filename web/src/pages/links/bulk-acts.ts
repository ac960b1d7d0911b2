import { useQueryClient } from '@tanstack/react-query'
import { flushSync } from 'react-dom'
import {
  actOnLinks,
  BULK_ITEMS_MAX,
  type BulkChanges,
  type BulkOutcome,
  type BulkResult,
  type BulkWatch,
  undoOf,
  updateLinks,
} from '../../api/bulk-links.ts'
import { LINKS_KEY } from '../../api/links.ts'
import type { IconNode } from '../../icons/Icon.tsx'
import { CheckIcon, TrashIcon } from '../../icons/index.ts'
import { errorText, SignInCancelled } from '../../shell/use-faults.ts'
import { Observable } from '../../state/observable.ts'
import { useText } from '../../text/use-text.ts'
import { offerUndo, showError, showMessage } from '../../widgets/Toasts.tsx'
import { hideLinks, showLinks } from './deleted-links.ts'
import { clearSelection, focusRestored, focusRowAt, rowIndexOf } from './row-state.ts'

type BulkActs = {
  /** Deletes in six seconds, unless Undo brings the links back. Only for as many as one request may name. */
  remove(ids: readonly string[]): void
  /** Deletes at once. */
  removeNow(ids: readonly string[]): Promise<void>
  /** Changes at once, and offers Undo. */
  change(ids: readonly string[], changes: BulkChanges, words?: ChangeWords): Promise<void>
}

/** How a change is reported. */
type ChangeWords = { readonly message: (count: number) => string; readonly icon: IconNode }

type BulkRequests = (watch: BulkWatch) => Promise<BulkOutcome>

export function useBulkActs(): BulkActs {
  const t = useText()
  const client = useQueryClient()

  /** Runs an act, shows what failed, link by link, and returns the results. */
  async function run(total: number, act: BulkRequests): Promise<readonly BulkResult[]> {
    const { results, error } = await runBulk(total, act)
    const failed = results.filter(({ status }) => status === 'failed')
    const untouched = total - results.length
    const isCancelled = error instanceof SignInCancelled
    const reason = error instanceof Error && !isCancelled ? errorText(error, t) : undefined
    if (results.length === 0 && reason !== undefined) showError(reason)
    else if (failed.length > 0 || untouched > 0) {
      bulkFailures.set({ failed, total, untouched, reason })
    }
    await client.invalidateQueries({ queryKey: LINKS_KEY })
    return results.filter(({ status }) => status === 'succeeded')
  }

  async function removeNow(ids: readonly string[]) {
    const deleted = await run(ids.length, (watch) => actOnLinks(ids, { action: 'delete' }, watch))
    if (deleted.length === ids.length) showMessage(t.links.deletedMany(deleted.length))
  }

  async function change(
    ids: readonly string[],
    changes: BulkChanges,
    { message, icon }: ChangeWords = { message: t.links.changedMany, icon: CheckIcon },
  ) {
    const act = { action: 'update', changes } as const
    const changed = await run(ids.length, (watch) => actOnLinks(ids, act, watch))
    const updates = undoOf(changes, changed)
    if (updates.length === 0) {
      if (changed.length === ids.length) showMessage(message(changed.length))
      return
    }
    offerUndo({
      message: message(updates.length),
      icon,
      async undo() {
        const restored = await run(updates.length, (watch) => updateLinks(updates, watch))
        if (restored.length === updates.length) showMessage(t.links.restoredMany(restored.length))
      },
    })
  }

  return {
    remove(ids) {
      const index = Math.min(...ids.map(rowIndexOf).filter((one) => one !== -1))
      flushSync(() => hideLinks(ids))
      focusRowAt(Number.isFinite(index) ? index : -1)
      clearSelection()
      offerUndo({
        message: t.links.deletedMany(ids.length),
        icon: TrashIcon,
        undo() {
          flushSync(() => showLinks(ids))
          focusRestored(ids)
          showMessage(t.links.undeleted(ids.length))
        },
        async otherwise() {
          await removeNow(ids)
          showLinks(ids)
        },
      })
    },
    async removeNow(ids) {
      clearSelection()
      await removeNow(ids)
    },
    change,
  }
}

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
async function runBulk(
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

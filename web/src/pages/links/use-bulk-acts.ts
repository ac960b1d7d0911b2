import { useQueryClient } from '@tanstack/react-query'
import type { BulkAct } from '../../api/bulk-links.ts'
import { LINKS_KEY } from '../../api/links.ts'
import { TrashIcon } from '../../icons/index.ts'
import { SignInCancelled } from '../../shell/sign-in-cancelled.ts'
import { errorText } from '../../shell/use-faults.ts'
import { useText } from '../../text/use-text.ts'
import { deferAct, showError, showMessage } from '../../widgets/toasts.ts'
import { bulkFailures } from './bulk-failures.ts'
import { runBulk } from './bulk-run.ts'
import { hideLinks, showLinks } from './hidden-links.ts'
import { clearSelection } from './selection.ts'

type BulkActs = {
  /** Deletes in six seconds, unless Undo brings the links back. Only for as many as one request may name. */
  remove(ids: readonly string[]): void
  /** Deletes at once. */
  removeNow(ids: readonly string[]): Promise<void>
  change(
    ids: readonly string[],
    changes: Extract<BulkAct, { action: 'update' }>['changes'],
  ): Promise<void>
}

export function useBulkActs(): BulkActs {
  const t = useText()
  const client = useQueryClient()

  /** Runs an act, and shows what failed, link by link. */
  async function run(ids: readonly string[], act: BulkAct, done: (count: number) => string) {
    const { results, error } = await runBulk(ids, act)
    const failed = results.filter(({ status }) => status === 'failed')
    const untouched = ids.length - results.length
    const isCancelled = error instanceof SignInCancelled
    const reason = error instanceof Error && !isCancelled ? errorText(error, t) : undefined
    if (results.length === 0 && reason !== undefined) showError(reason)
    else if (failed.length > 0 || untouched > 0) {
      bulkFailures.set({ failed, total: ids.length, untouched, reason })
    } else showMessage(done(results.length))
    await client.invalidateQueries({ queryKey: LINKS_KEY })
  }

  const removeNow = (ids: readonly string[]) => run(ids, { action: 'delete' }, t.links.deletedMany)

  return {
    remove(ids) {
      hideLinks(ids)
      clearSelection()
      deferAct({
        message: t.links.deletedMany(ids.length),
        icon: TrashIcon,
        undo: () => showLinks(ids),
        async commit() {
          await removeNow(ids)
          showLinks(ids)
        },
      })
    },
    async removeNow(ids) {
      clearSelection()
      await removeNow(ids)
    },
    change: (ids, changes) => run(ids, { action: 'update', changes }, t.links.changedMany),
  }
}

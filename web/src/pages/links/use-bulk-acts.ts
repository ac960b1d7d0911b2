import { useQueryClient } from '@tanstack/react-query'
import { type BulkResult, changeLinks, deleteLinks } from '../../api/bulk-links.ts'
import { LINKS_KEY, type LinkFields } from '../../api/links.ts'
import { TrashIcon } from '../../icons/index.ts'
import { useText } from '../../text/use-text.ts'
import { deferAct, showError, showMessage } from '../../widgets/toasts.ts'
import { showBulkFailures } from './bulk-failures.ts'
import { hideLinks, showLinks } from './hidden-links.ts'
import { clearSelection } from './selection.ts'

type BulkActs = {
  /** Deletes in six seconds, unless Undo brings the links back. */
  remove(ids: readonly string[]): void
  change(
    ids: readonly string[],
    changes: LinkFields & { readonly add_tags?: readonly string[] },
  ): Promise<void>
}

export function useBulkActs(): BulkActs {
  const t = useText()
  const client = useQueryClient()

  /** Runs an act, and shows what failed, link by link. */
  async function run(act: () => Promise<readonly BulkResult[]>, done: (count: number) => string) {
    try {
      const results = await act()
      const failed = results.filter(({ status }) => status === 'failed')
      if (failed.length > 0) showBulkFailures(failed, results.length)
      else showMessage(done(results.length))
    } catch (error) {
      showError(error instanceof Error ? error.message : t.common.unexpected)
    }
    await client.invalidateQueries({ queryKey: LINKS_KEY })
  }

  return {
    remove(ids) {
      hideLinks(ids)
      clearSelection()
      deferAct({
        message: t.links.deletedMany(ids.length),
        icon: TrashIcon,
        undo: () => showLinks(ids),
        async commit() {
          await run(() => deleteLinks(ids), t.links.deletedMany)
          showLinks(ids)
        },
      })
    },
    async change(ids, changes) {
      await run(() => changeLinks(ids, changes), t.links.changedMany)
    },
  }
}

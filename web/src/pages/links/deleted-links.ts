import { useQueryClient } from '@tanstack/react-query'
import { flushSync } from 'react-dom'
import { ApiError } from '../../api/api-error.ts'
import { type DetailedLink, deleteLink, LINKS_KEY } from '../../api/links.ts'
import { TrashIcon } from '../../icons/index.ts'
import { Observable, useObservable } from '../../state/observable.ts'
import { useText } from '../../text/use-text.ts'
import { offerUndo, showError, showMessage } from '../../widgets/Toasts.tsx'
import { focusRestored, focusRowAt, rowIndexOf, select } from './row-state.ts'

/** Links that are about to be deleted, and already out of sight. */
const hidden = new Observable<ReadonlySet<string>>(new Set())

export function useHiddenLinks(): ReadonlySet<string> {
  return useObservable(hidden)
}

export function hideLinks(ids: Iterable<string>): void {
  hidden.set(new Set([...hidden.value, ...ids]))
}

export function showLinks(ids: Iterable<string>): void {
  hidden.set(hidden.value.difference(new Set(ids)))
}

/**
 * Deletes a link in six seconds: until then it is out of sight, and Undo brings it back. Of a link that must not be
 * deleted it says that, and returns false.
 */
export function useDeleteLink(): (link: DetailedLink) => boolean {
  const t = useText()
  const client = useQueryClient()
  return (link) => {
    const { id } = link
    const name = `${link.domain}/${link.key}`
    if (link.options.prevent_delete) {
      showError(t.managed.notDeleted(name))
      return false
    }
    const index = rowIndexOf(id)
    flushSync(() => hideLinks([id]))
    focusRowAt(index)
    select([id], false)
    offerUndo({
      message: t.links.deleted(name),
      icon: TrashIcon,
      undo() {
        flushSync(() => showLinks([id]))
        focusRestored([id])
        showMessage(t.links.restored(name))
      },
      async otherwise() {
        try {
          await deleteLink(id)
          await client.invalidateQueries({ queryKey: LINKS_KEY })
        } catch (error) {
          const isPrevented = error instanceof ApiError && 'prevent_delete' in error.fields
          showError(isPrevented ? t.managed.notDeleted(name) : t.links.deleteFailed(name))
        }
        showLinks([id])
      },
    })
    return true
  }
}

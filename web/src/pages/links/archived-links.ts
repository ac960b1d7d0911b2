import { flushSync } from 'react-dom'
import type { LinkResource } from '../../api/links.ts'
import { ArchiveIcon, UnarchiveIcon } from '../../icons/index.ts'
import { useText } from '../../text/use-text.ts'
import { useBulkActs } from './bulk-acts.ts'
import { hideLinks, showLinks } from './deleted-links.ts'
import { clearSelection, focusRowAt, rowIndexOf } from './row-state.ts'

export type ArchivingOptions = {
  /** Whether the list does not show them afterwards. */
  readonly leavesList: boolean
}

type Archiving = {
  /** Archives a link, or takes it out of the archive, and offers Undo. */
  archive(link: LinkResource, isArchived: boolean, options: ArchivingOptions): Promise<void>
  /** The same for several links. */
  archiveMany(ids: readonly string[], isArchived: boolean, options: ArchivingOptions): Promise<void>
}

export function useArchiving(): Archiving {
  const t = useText()
  const acts = useBulkActs()

  async function act(
    ids: readonly string[],
    isArchived: boolean,
    message: (count: number) => string,
    { leavesList }: ArchivingOptions,
  ): Promise<void> {
    const icon = isArchived ? ArchiveIcon : UnarchiveIcon
    const changed = acts.change(ids, { archived: isArchived }, { message, icon })
    if (!leavesList) return changed
    const index = Math.min(...ids.map(rowIndexOf).filter((one) => one !== -1))
    flushSync(() => hideLinks(ids))
    focusRowAt(Number.isFinite(index) ? index : -1)
    clearSelection()
    // Those that failed are still in the list.
    await changed.finally(() => showLinks(ids))
  }

  return {
    archive: (link, isArchived, options) => {
      const words = isArchived ? t.links.archivedOne : t.links.unarchivedOne
      return act([link.id], isArchived, () => words(`${link.domain}/${link.key}`), options)
    },
    archiveMany: (ids, isArchived, options) =>
      act(ids, isArchived, isArchived ? t.links.archivedMany : t.links.unarchivedMany, options),
  }
}

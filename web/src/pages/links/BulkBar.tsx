import { useState } from 'react'
import { findLinkIds } from '../../api/link-exports.ts'
import { isFiltered, type LinkFilter } from '../../api/link-filter.ts'
import { Icon, type IconNode } from '../../icons/Icon.tsx'
import { CloseIcon, DomainIcon, ExpiryIcon, TagIcon, TrashIcon } from '../../icons/index.ts'
import { ConfirmDialog } from '../../shell/ConfirmDialog.tsx'
import { useChange } from '../../shell/use-change.ts'
import { useText } from '../../text/use-text.ts'
import { type BulkChange, BulkDialog } from './BulkDialog.tsx'
import { BulkFailureDialog } from './BulkFailureDialog.tsx'
import { BulkProgressDialog } from './BulkProgressDialog.tsx'
import { isLong } from './bulk-run.ts'
import { clearSelection, select, useSelection } from './selection.ts'
import { useBulkActs } from './use-bulk-acts.ts'

type BulkBarProps = {
  readonly filter: LinkFilter
  /** How many links match the filter. */
  readonly total: number
}

/** What can be done with the selected links of all pages. */
export function BulkBar({ filter, total }: BulkBarProps) {
  const t = useText()
  const selected = useSelection()
  const acts = useBulkActs()
  const [change, setChange] = useState<BulkChange>()
  /** To delete, once that is confirmed. */
  const [doomed, setDoomed] = useState<readonly string[]>()
  function remove() {
    const ids = [...selected]
    if (isLong(ids.length)) setDoomed(ids)
    else acts.remove(ids)
  }
  return (
    <>
      {selected.size > 0 && (
        <div className="bulk" role="toolbar" aria-label={t.links.selectedLinks}>
          <span className="first" role="status">
            {t.links.selected(selected.size)}
          </span>
          {selected.size < total && <SelectAllButton filter={filter} total={total} />}
          <span className="sep" />
          <Act icon={TagIcon} name={t.links.bulkTag} onClick={() => setChange('tag')} />
          <Act icon={DomainIcon} name={t.links.bulkMove} onClick={() => setChange('move')} />
          <Act icon={ExpiryIcon} name={t.links.bulkExpire} onClick={() => setChange('expire')} />
          <Act icon={TrashIcon} name={t.common.delete} isDangerous onClick={remove} />
          <button type="button" aria-label={t.links.clearSelection} onClick={clearSelection}>
            <Icon of={CloseIcon} />
          </button>
        </div>
      )}
      {change !== undefined && (
        <BulkDialog change={change} ids={[...selected]} onClose={() => setChange(undefined)} />
      )}
      {doomed !== undefined && (
        <ConfirmDialog
          title={t.links.bulkDeleteTitle(doomed.length)}
          text={t.links.bulkDeleteText}
          verb={t.common.delete}
          name={String(doomed.length)}
          act={async () => {}}
          onDone={() => {
            setDoomed(undefined)
            void acts.removeNow(doomed)
          }}
          onClose={() => setDoomed(undefined)}
        />
      )}
      <BulkProgressDialog />
      <BulkFailureDialog />
    </>
  )
}

/** Selects what matches on all pages. */
function SelectAllButton({ filter, total }: BulkBarProps) {
  const t = useText()
  const { mutate, isPending } = useChange(() => findLinkIds(filter), { keys: [] })
  return (
    <button
      type="button"
      className="all"
      disabled={isPending}
      onClick={() => mutate(undefined, { onSuccess: (ids) => select(ids, true) })}
    >
      {isFiltered(filter) ? t.links.selectMatching(total) : t.links.selectAll(total)}
    </button>
  )
}

type ActProps = {
  readonly icon: IconNode
  readonly name: string
  readonly isDangerous?: boolean
  readonly onClick: () => void
}

/** On phones only the icon is shown. */
function Act({ icon, name, isDangerous = false, onClick }: ActProps) {
  return (
    <button type="button" className={isDangerous ? 'danger' : ''} onClick={onClick}>
      <Icon of={icon} />
      <span className="t">{name}</span>
    </button>
  )
}

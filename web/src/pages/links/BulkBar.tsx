import { useState } from 'react'
import { findLinkIds, type LinkFilter } from '../../api/links.ts'
import { Icon, type IconNode } from '../../icons/Icon.tsx'
import { CloseIcon, DomainIcon, ExpiryIcon, TagIcon, TrashIcon } from '../../icons/index.ts'
import { useChange } from '../../shell/use-change.ts'
import { useText } from '../../text/use-text.ts'
import { type BulkChange, BulkDialog } from './BulkDialog.tsx'
import { BulkFailureDialog } from './BulkFailureDialog.tsx'
import { clearSelection, select, useSelection } from './selection.ts'
import { useBulkActs } from './use-bulk-acts.ts'

/** 5,000 are 50 requests. Of more links the newest are selected, and then those that are left. */
const SELECT_ALL_MAX = 5_000

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
  const ids = [...selected]
  return (
    <>
      {selected.size > 0 && (
        <div className="bulk" role="toolbar" aria-label={t.links.selectedLinks}>
          <span className="first" role="status">
            {t.links.selected(selected.size)}
          </span>
          {selected.size < Math.min(total, SELECT_ALL_MAX) && (
            <SelectAllButton filter={filter} total={total} />
          )}
          <span className="sep" />
          <Act icon={TagIcon} name={t.links.bulkTag} onClick={() => setChange('tag')} />
          <Act icon={DomainIcon} name={t.links.bulkMove} onClick={() => setChange('move')} />
          <Act icon={ExpiryIcon} name={t.links.bulkExpire} onClick={() => setChange('expire')} />
          <Act
            icon={TrashIcon}
            name={t.common.delete}
            isDangerous
            onClick={() => acts.remove(ids)}
          />
          <button type="button" aria-label={t.links.clearSelection} onClick={clearSelection}>
            <Icon of={CloseIcon} />
          </button>
        </div>
      )}
      {change !== undefined && (
        <BulkDialog change={change} ids={ids} onClose={() => setChange(undefined)} />
      )}
      <BulkFailureDialog />
    </>
  )
}

/** Says how many it selects: not always all. */
function SelectAllButton({ filter, total }: BulkBarProps) {
  const t = useText()
  const { mutate, isPending } = useChange(() => findLinkIds(filter, SELECT_ALL_MAX), {
    keys: [],
  })
  return (
    <button
      type="button"
      className="all"
      disabled={isPending}
      onClick={() => mutate(undefined, { onSuccess: (ids) => select(ids, true) })}
    >
      {total <= SELECT_ALL_MAX
        ? t.links.selectAll(total)
        : t.links.selectNewest(SELECT_ALL_MAX, total)}
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

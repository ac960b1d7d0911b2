import { Icon } from '../../icons/Icon.tsx'
import { CloseIcon } from '../../icons/index.ts'
import { useText } from '../../text/use-text.ts'
import { clearSelection, useSelection } from './selection.ts'

/** What can be done with the selected links of all pages. */
export function BulkBar() {
  const t = useText()
  const { size } = useSelection()
  if (size === 0) return null
  return (
    <div className="bulk" role="toolbar" aria-label={t.links.selectedLinks}>
      <span className="first" role="status">
        {t.links.selected(size)}
      </span>
      <button type="button" aria-label={t.links.clearSelection} onClick={clearSelection}>
        <Icon of={CloseIcon} />
      </button>
    </div>
  )
}
